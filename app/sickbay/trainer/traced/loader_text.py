"""What DataLoader makes of an exception in a worker, and of a worker that is gone, taken apart."""

import re
from dataclasses import dataclass

_MOST_READ = 100_000
_WRAPPED = re.compile(
    r"Caught (?P<type>\w+) (?P<where>in [^\n]{1,200}?)\.\nOriginal (?P<trace>.*)", re.DOTALL
)
_WORKER = re.compile(r"DataLoader worker process (\d{1,6})")
_GONE = re.compile(r"DataLoader worker \(pid(?:\(s\))? (?P<pids>\d+(?:, \d+)*)\)")
_LATE = re.compile(r"DataLoader timed out after (?P<seconds>\d+(?:\.\d+)?) seconds")
_QUOTED = re.compile(r"""(['"])(?P<path>[^'"\n]{1,1000})\1""")
_LIKE_A_PATH = re.compile(r"(?:.*[/\\].+|[^\s]+)\.[A-Za-z0-9]{1,8}$|/.+")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """An exception that was raised in a worker, as text.

    Attributes:
        type: the class it had there, with its module where the traceback says it.
        message: its own text.
        traceback: as it was formatted there.
        worker: the worker's number.
        path: a file that its text names.
    """

    type: str
    message: str
    traceback: str
    worker: int | None
    path: str | None


@dataclass(frozen=True, slots=True)
class Gone:
    """Workers that died (by process id), or a batch that did not come in so many seconds."""

    pids: tuple[int, ...] = ()
    seconds: float | None = None


def wrapped(text: str) -> Wrapped | None:
    """Take apart what DataLoader raises for an exception in a worker; other text gives nothing."""
    found = _WRAPPED.match(text[:_MOST_READ])
    if found is None:
        return None
    kind, message = _last(found["trace"], found["type"])
    worker = _WORKER.search(found["where"])
    return Wrapped(
        kind, message, found["trace"], int(worker[1]) if worker else None, path_in(message)
    )


def gone(text: str) -> Gone | None:
    """Take apart what DataLoader raises for workers that died or hang; else nothing."""
    if found := _GONE.search(text[:_MOST_READ]):
        return Gone(pids=tuple(map(int, found["pids"].split(", "))))
    if found := _LATE.search(text[:_MOST_READ]):
        return Gone(seconds=float(found["seconds"]))
    return None


def path_in(message: str) -> str | None:
    """Return the file that a message names in quotation marks, the last of them."""
    named = [found["path"] for found in _QUOTED.finditer(message[:_MOST_READ])]
    return next((path for path in reversed(named) if _LIKE_A_PATH.fullmatch(path)), None)


def _last(trace: str, kind: str) -> tuple[str, str]:
    """Return class and text of the exception that a traceback ends with."""
    line = re.compile(rf"^((?:\w+\.)*{re.escape(kind)})(?:: |$)", re.MULTILINE)
    found = list(line.finditer(trace))
    if not found:
        return kind, ""
    return found[-1][1], trace[found[-1].end() :].strip()
