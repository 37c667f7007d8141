"""Files in, findings out; no database, no web.

    summary = scan("photos", dataset="photos", sink=NdjsonSink("photos.ndjson"))

``scan`` writes records to a :class:`Sink`; ``Guard`` and ``Guards`` check and preview single
files in limited child processes.
"""

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
