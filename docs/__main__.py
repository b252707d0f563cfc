"""``python -m docs [FOLDER]`` writes the manual, into ``site/`` if no folder is named."""

import sys
from pathlib import Path

from docs.manual import write_manual

folder = Path(next(iter(sys.argv[1:]), "site"))
write_manual(folder)
print(folder / "index.html")
