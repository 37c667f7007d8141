"""Files in, findings out; no database, no web.

    summary = scan("photos", dataset="photos", sink=NdjsonSink("photos.ndjson"))

``scan`` writes records to a :class:`Sink`; ``Guard`` and ``Guards`` check and preview single
files in limited child processes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sickbay.scanner.engine import scan
    from sickbay.scanner.evidence import Examined
    from sickbay.scanner.guard import Guard, Guards
    from sickbay.scanner.limits import Limits
    from sickbay.scanner.sink import NdjsonSink, Sink
    from sickbay.scanner.sources.layouts import LAYOUTS
    from sickbay.scanner.task import Setup, Task

__all__ = [
    "LAYOUTS",
    "Examined",
    "Guard",
    "Guards",
    "Limits",
    "NdjsonSink",
    "Setup",
    "Sink",
    "Task",
    "scan",
]
_MODULES = {
    "LAYOUTS": "sources.layouts",
    "Examined": "evidence",
    "Guard": "guard",
    "Guards": "guard",
    "Limits": "limits",
    "NdjsonSink": "sink",
    "Setup": "task",
    "Sink": "sink",
    "Task": "task",
    "scan": "engine",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for and no more: a child that decodes starts twice as fast."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
