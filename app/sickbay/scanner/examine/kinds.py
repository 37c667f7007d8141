"""Which examiner checks which kind of task."""

from functools import cache
from importlib import import_module

from sickbay.scanner.examine import Examiner


@cache
def examiner(kind: str) -> Examiner:
    """Import the module that a kind is called after, when the first of that kind comes.

    A data set holds one or two, and a child that decodes would load all of them before it begins.
    """
    examine: Examiner = import_module(f"{__package__}.{kind}").examine
    return examine
