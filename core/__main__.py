"""``python -m core`` in a checkout: the commands of ``hedge``, for scripts and clusters."""

import sys

from core.processes import program
from hedge.cli import main

program.prepare()
sys.exit(main())
