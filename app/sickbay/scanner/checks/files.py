"""What may be wrong with a file before anybody looks at its content."""

import os

from sickbay.contract.errors import SickbayError
from sickbay.contract.finding import Finding
from sickbay.contract.inside import Inside, LeadsOut, Missing, NotRegular, Unreadable
from sickbay.contract.paths import SamplePath, unsafe_reason
from sickbay.scanner.evidence import Examined
from sickbay.scanner.limits import Limits

CODES: dict[type[SickbayError], tuple[str, str]] = {
    Missing: ("file.missing", "Nothing lies at this path."),
    NotRegular: ("file.not-regular", "It is a folder, device, pipe or socket, not a file."),
    LeadsOut: ("file.unsafe-path", "A link on its path leads out of the data set."),
    Unreadable: ("file.unreadable", "The file cannot be read."),
}


def read(folder: Inside, raw: bytes, limits: Limits) -> tuple[Examined, bytes | None]:
    """Read one file once; where that fails, the facts carry the finding and there are no bytes."""
    try:
        fd = folder.open(raw)
    except tuple(CODES) as error:
        return fault(error), None
    try:
        return _read_open(fd, limits)
    except OSError as error:
        message = f"The file cannot be read: {error.strerror}."
        return Examined(findings=(Finding.of("file.unreadable", "", message),)), None
    finally:
        os.close(fd)


def fault(error: SickbayError) -> Examined:
    """What is found of a file that :mod:`sickbay.contract.inside` does not open."""
    code, message = CODES[type(error)]
    return Examined(findings=(Finding.of(code, "", message),))


def without_root() -> Examined:
    """What is found of a file whose data set is gone, unmounted perhaps, while it is scanned."""
    message = "The data set's folder cannot be opened any more."
    return Examined(findings=(Finding.of("file.unreadable", "", message),))


def _read_open(fd: int, limits: Limits) -> tuple[Examined, bytes | None]:
    before = os.fstat(fd)
    facts = Examined(
        size=before.st_size,
        mtime_ns=before.st_mtime_ns,
        stat=(before.st_dev, before.st_ino, before.st_ctime_ns),
    )
    if before.st_size > limits.file_bytes:
        return _with(facts, _too_large(before.st_size, limits)), None
    data = _read_all(fd, before.st_size)
    after = os.fstat(fd)
    if (after.st_mtime_ns, after.st_ctime_ns, len(data)) != (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_size,
    ):
        message = "The file changed while it was read."
        return _with(facts, Finding.of("file.changed", "", message)), None
    return facts, data


def _read_all(fd: int, size: int) -> bytes:
    """Read one byte more than stated, to see whether it grew."""
    data = os.read(fd, size + 1)
    if len(data) >= size:
        return data
    pieces = [data]
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _with(facts: Examined, finding: Finding) -> Examined:
    return Examined(size=facts.size, mtime_ns=facts.mtime_ns, stat=facts.stat, findings=(finding,))


def _too_large(size: int, limits: Limits) -> Finding:
    message = f"A file of {size} bytes needs more memory to check than is allowed."
    return Finding.of("decoder.out-of-memory", "", message, limit=limits.file_bytes)


def unsafe_name(path: SamplePath) -> Finding | None:
    """A name that no manifest can hold."""
    reason = unsafe_reason(path)
    return Finding.of("file.unsafe-path", path.text, reason) if reason else None
