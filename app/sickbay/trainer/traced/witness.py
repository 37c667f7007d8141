"""What is known here of an exception beside what it says: for ``Run.failure``.

An exception from a loader names the sample (``notes``); a worker that is gone left what it was
at on its board; for the rest, DataLoader's text is taken apart. What a worker has told already is
not told again.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from sickbay.contract.event import FailureKind
from sickbay.trainer.complaints import harmless
from sickbay.trainer.traced import loader_text, notes
from sickbay.trainer.traced.board import Now, alive
from sickbay.trainer.traced.place import boards

_NOTHING: Mapping[str, Any] = {}
_MOST_REFS = 2000
_TOLD = "_sickbay_told"
_PATIENCE = 5.0
"""Seconds in which the script may tell an exception itself, with its step."""
_SHARE = 0.8
"""Of DataLoader's time-out: a worker that has been at a sample for so long is the late one."""
_told: "OrderedDict[str, None]" = OrderedDict()
_waiting: dict[str, tuple[float, dict[str, Any]]] = {}
_blamed: deque[tuple[int, float]] = deque(maxlen=_MOST_REFS)
"""Workers that were told of; a late one may stay late while the next loader runs."""
leaving: list[Callable[[], None]] = []
"""Called when a run is left, for what was not told yet."""


def completed(error: BaseException | None, said: Mapping[str, Any]) -> dict[str, Any]:
    """Add what is known of an exception to the fields of its failure; what is said counts more."""
    known: Mapping[str, Any] = known_of(error) if error is not None else {}
    return {**said, **known, **{name: value for name, value in said.items() if value is not None}}


def first_time(fields: Mapping[str, Any]) -> bool:
    """Note that a failure is told; whether it was not before."""
    ref = str(fields.get("ref", ""))
    if not ref or ref not in _told:
        _told[ref] = None
        while len(_told) > _MOST_REFS:
            _told.popitem(last=False)
        return True
    return False


def first_of(error: BaseException | None, run: str) -> bool:
    """Note on an exception that a run is told of it; whether that was not so yet.

    Not by its ``id``, which the next exception may have, and not by keeping it, for its traceback
    keeps the step's tensors.
    """
    if error is None:
        return True
    runs = getattr(error, _TOLD, "")
    if run in runs:
        return False
    with suppress(Exception):
        setattr(error, _TOLD, f"{runs} {run}")
    return True


def before_leaving() -> None:
    """Let what was not told yet be told."""
    for act in leaving:
        act()


def records(*, hurried: bool = False) -> list[dict[str, Any]]:
    """Fetch what workers have left of their exceptions.

    Args:
        hurried: only what has waited for a while; the loader is likely to raise it any moment.
    """
    _fetch(hurried=hurried)
    limit = time.monotonic() - (_PATIENCE if hurried else 0)
    due = [ref for ref, (at, _) in _waiting.items() if at <= limit]
    return [_waiting.pop(ref)[1] for ref in due]


def forget() -> None:
    """Let go of what workers have left so far: it happened before the run that begins now."""
    _fetch()
    _waiting.clear()


def _fetch(*, hurried: bool = False) -> None:
    for board in list(boards):
        for record in board.told(hurried=hurried):
            _waiting[str(record.get("ref"))] = (time.monotonic(), record)


def of_loader(error: BaseException) -> bool:
    """Whether an exception comes from loading, and not from what is done with a batch."""
    text = notes.text_of(error)
    found = notes.on(error), loader_text.wrapped(text), loader_text.gone(text)
    return any(one is not None for one in found)


@harmless(_NOTHING)
def known_of(error: BaseException) -> Mapping[str, Any]:
    """Return fields of a failure, ``what`` among them, for an exception that is to be told."""
    text = notes.text_of(error)
    if (note := notes.on(error)) is not None:
        _fetch()
        _, own = _waiting.pop(note.ref, (0.0, {}))
        return {**_as_raised(text), "what": note.kind, **note.fields(), **own}
    if (gone := loader_text.gone(text)) is not None:
        return _of_gone(gone)
    return _as_raised(text)


def _as_raised(text: str) -> dict[str, Any]:
    """Return what the text of DataLoader says of an exception in a worker."""
    found = loader_text.wrapped(text)
    if found is None:
        return {}
    fields: dict[str, Any] = {"exception_type": found.type, "worker": found.worker}
    if found.path is not None:
        fields["samples"] = [found.path]
    return {"what": FailureKind.LOADER_ERROR, **fields}


def _of_gone(gone: loader_text.Gone) -> dict[str, Any]:
    found = (now for board in list(boards) for now in board.busy())
    at = [now for now in found if (now.pid, now.since) not in _blamed]
    chosen = [now for now in at if now.pid in gone.pids] if gone.pids else _late(at, gone)
    if not chosen:
        return {"what": FailureKind.WORKER_KILLED}
    _blamed.extend((now.pid, now.since) for now in chosen)
    first = chosen[0]
    return {
        "what": FailureKind.WORKER_KILLED,
        "worker": first.worker,
        "epoch": first.epoch,
        "seeds": {"worker": first.seed},
        "samples": [{"path": path, "index": _index(now)} for now in chosen for path in now.paths],
        "fetching_for": round(time.time() - first.since, 1),
        "was": first.state.name.lower(),
    }


def _index(now: Now) -> int | None:
    return now.index if len(now.paths) == 1 and now.index >= 0 else None


def _late(at: list[Now], gone: loader_text.Gone) -> list[Now]:
    """Return the workers that made the loader wait; of those that live, the longest at it."""
    living = [now for now in at if alive(now.pid)]
    limit = time.time() - _SHARE * (gone.seconds or 0)
    return [now for now in living if now.since <= limit] or living[:1]
