"""Sending what a spool still holds: ``sickbay sync``, after an outage or an offline job."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sickbay.contract.errors import BadInput, NotFound, StorageFailed
from sickbay.contract.event import MAX_EVENTS
from sickbay.contract.opening import Opened, Opening, opening_from_json
from sickbay.trainer.claim import LOCK, claim, release
from sickbay.trainer.line import MOST_BYTES, Delivered, Line
from sickbay.trainer.spool import payloads

SUFFIX = ".spool"


@dataclass(slots=True)
class Left:
    """What came of one process's folder.

    Attributes:
        busy: its process is still alive and sends for itself.
        damaged: lines that were torn or changed and cannot be sent.
    """

    folder: Path
    run: str = ""
    busy: bool = False
    damaged: int = 0
    delivered: Delivered = field(default_factory=Delivered)


def folders(spool: Path) -> list[Path]:
    """Return the folders of processes in a spool, or the one that it is itself.

    Raises:
        NotFound: there is no such folder.
    """
    if not spool.is_dir():
        raise NotFound(f"There is no spool at {spool}; give the folder that SICKBAY_SPOOL named.")
    if any(spool.glob(f"*{SUFFIX}")):
        return [spool]
    found = (*spool.glob(f"*/{LOCK}"), *spool.glob(f"*/*{SUFFIX}"))
    return sorted({path.parent for path in found})


def forgotten(spool: Path, url: str) -> Iterator[Path]:
    """Yield folders of processes that sent to this server themselves and did not finish.

    What was kept on purpose (mode offline) is left for ``sickbay sync``.
    """
    for folder in folders(spool) if spool.is_dir() else ():
        first = min(folder.glob(f"*{SUFFIX}"), default=None)
        with suppress(OSError, ValueError, AttributeError, StopIteration):
            if first is not None:
                with first.open("rb") as file:
                    header = json.loads(next(payloads(file.readline())))
                if header.get("mode") == "online" and header.get("url") == url:
                    yield folder


def replay(folder: Path, line: Line, *, keep: bool = False) -> Left:
    """Send what one process left, oldest first; delete what has arrived.

    Sending twice is harmless: the server knows every event by its number.

    Args:
        folder: the process's.
        line: the server.
        keep: leave the files where they are.

    Raises:
        SickbayError: the server is away or says no; the files are still there.
        StorageFailed: a file cannot be read or deleted.
    """
    lock = claim(folder)
    if lock is None:
        return Left(folder, busy=True)
    try:
        return _replay(folder, line, keep=keep)
    finally:
        release(folder, lock, remove=not keep and not any(folder.glob(f"*{SUFFIX}")))


def _replay(folder: Path, line: Line, *, keep: bool) -> Left:
    left, opened = Left(folder), None
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        opening, events = _read(path, left)
        if opening is not None and opened is None:
            left.run, opened = opening.name, line.open(opening.to_json())
        if opened is None and events:
            raise BadInput(f"{path} does not say which run it belongs to; its first line is gone.")
        if opened is not None:
            _deliver(line, opened, events, left)
        if not keep:
            _delete(path)
    return left


def _deliver(line: Line, opened: Opened, events: list[bytes], left: Left) -> None:
    for batch in batches(events):
        line.deliver(opened, batch, left.delivered)


def _read(path: Path, left: Left) -> tuple[Opening | None, list[bytes]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StorageFailed(f"{path} cannot be read: {error.strerror}.") from None
    found = list(payloads(data))
    left.damaged += len([line for line in data.split(b"\n") if line]) - len(found)
    opening = _opening(found[0]) if found else None
    return opening, found[1:] if opening else found


def _opening(payload: bytes) -> Opening | None:
    with suppress(BadInput, ValueError):
        value: Any = json.loads(payload)
        if value.pop("kind", None) == "opening":
            value.pop("url", None)
            value.pop("mode", None)
            return opening_from_json(value)
    return None


def batches(events: list[bytes]) -> Iterator[list[bytes]]:
    """Yield events in batches that the server takes."""
    batch: list[bytes] = []
    size = 0
    for event in events:
        if batch and (len(batch) == MAX_EVENTS or size + len(event) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += len(event) + 1
    if batch:
        yield batch


def _delete(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise StorageFailed(f"{path} was sent and cannot be deleted: {error.strerror}.") from None


def replay_all(spool: Path, line: Line, tell: Callable[[Left], None], *, keep: bool) -> None:
    """Send what every process left in a spool; ``tell`` hears of each.

    Raises:
        SickbayError: as for ``replay``; what came before has been sent.
    """
    for folder in folders(spool):
        tell(replay(folder, line, keep=keep))
