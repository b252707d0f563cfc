"""Write ``agreement.json``: Krippendorff's alpha of seeded verdicts by the package of that name, once:

pip install krippendorff==0.9.0 && python tests/golden/make_agreement.py
"""

import json
from pathlib import Path

from tests.core.jury.verdicts import SHAPES, seeded_verdicts


def main():
    """Ask the package and write what it says."""
    import krippendorff

    values = [
        krippendorff.alpha(seeded_verdicts(*shape).T.astype(int), level_of_measurement="nominal") for shape in SHAPES
    ]
    path = Path(__file__).with_name("agreement.json")
    path.write_text(json.dumps({"krippendorff": [float(value) for value in values]}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
