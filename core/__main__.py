"""``python -m core`` in a checkout: the commands of ``hedge``, for scripts and clusters."""

import sys

from core.cli import main
from core.processes import program

program.prepare()
sys.exit(main())
