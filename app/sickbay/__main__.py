"""``python -m sickbay`` is the same program as ``sickbay``."""

from sickbay.cli import main

main()
