"""One failure for what two have found: the watch and the checks of batches look at the same.

Whoever finds values that are not finite leaves a note here; whoever comes second gets the name
(``ref``) of the first one's failure, under which it is told once.
"""

import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sickbay.contract.event import FailureKind

_MOST = 256


@dataclass(frozen=True, slots=True)
class _Note:
    who: str
    kind: FailureKind
    step: int | None
    samples: frozenset[str]
    ref: str


_notes: deque[_Note] = deque(maxlen=_MOST)
_lock = threading.Lock()


def ref_of(who: str, kind: FailureKind, step: int | None, samples: Sequence[Any], ref: str) -> str:
    """Return the name for a failure: the one that somebody else has for it, once, or ``ref``.

    Args:
        who: who has found it; one's own notes are none of somebody else's.
        kind: what was found.
        step: at which step, if that is known; two that are known and differ are two failures.
        samples: paths, or mappings with ``path``; none where they are not known.
        ref: the name that it has otherwise.
    """
    paths = frozenset(map(_path, samples))
    with _lock:
        for note in reversed(_notes):
            if note.who != who and note.kind is kind and _same(note, step, paths):
                _notes.remove(note)
                return note.ref
        _notes.append(_Note(who, kind, step, paths, ref))
    return ref


def _same(note: _Note, step: int | None, paths: frozenset[str]) -> bool:
    if step is None or note.step is None:
        return bool(paths) and note.samples == paths
    return note.step == step and (note.samples == paths or not note.samples or not paths)


def _path(sample: Any) -> str:
    said = sample.get("path") if isinstance(sample, Mapping) else getattr(sample, "path", sample)
    return os.fsdecode(said) if isinstance(said, str | bytes | os.PathLike) else str(said)
