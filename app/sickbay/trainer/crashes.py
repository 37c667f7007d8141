"""Exceptions that end the program are told before it ends."""

import sys
from typing import Any

from sickbay.trainer.run import leave, open_runs


def watch_for_crashes() -> None:
    """Note an exception that ends the program, then do what was done before."""
    global _previous_hook
    if sys.excepthook is not _told_by_hook:
        _previous_hook, sys.excepthook = sys.excepthook, _told_by_hook


def _told_by_hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    for run in open_runs.copy():
        leave(run, error)
    _previous_hook(kind, error, trace)


_previous_hook = sys.excepthook
