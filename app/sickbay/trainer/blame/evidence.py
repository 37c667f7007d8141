"""What is kept of an anomaly, so that its step can be repeated another day."""

import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from sickbay.contract.errors import BadInput, NotFound, StorageFailed
from sickbay.contract.event import FailureKind
from sickbay.trainer import surroundings, whole_files
from sickbay.trainer.blame.batches import Call
from sickbay.trainer.blame.moments import Moment
from sickbay.trainer.checkpoints.content import loaded
from sickbay.trainer.storable import storable
from sickbay.trainer.watch.anomaly import Anomaly

VERSION = 1
SUFFIX = ".evidence.pt"
MOST_FILES, MOST_BYTES = 10, 2 << 30
"""What a folder of evidence holds at most; the oldest goes."""
MOST_BATCH = 256 << 20
"""Bytes of one batch that are kept; a larger one is not."""
_OLD = 3600.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One anomaly as it is kept.

    Attributes:
        ref: the failure's.
        value: the loss, or the gradient's norm.
        run: the run's key on the server, where it was known.
        checkpoint: the file with the weights from before the step, where there is one.
        root: the data set's, below which the samples' paths are.
        modes: which modules were being trained, in the model's order.
        now: the bad step; ``before`` the one before it.
    """

    ref: str
    kind: FailureKind
    step: int
    value: float
    baseline: float | None
    by_gradient: bool
    now: Moment
    before: Moment | None = None
    rank: int = 0
    run: str = ""
    attempt: int = 0
    checkpoint: str = ""
    modes: tuple[bool, ...] = ()
    rule: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""


def default_folder() -> Path:
    """Return where evidence is kept where nothing else is said: beside the spool."""
    said = os.environ.get("SICKBAY_EVIDENCE")
    return Path(said) if said else surroundings.read().spool.parent / "evidence"


def by_gradient(anomaly: Anomaly) -> bool:
    """Whether it is the gradient that was not as it should be."""
    named = str(anomaly.rule.get("name", ""))
    return anomaly.kind is FailureKind.NON_FINITE_GRADIENT or named.startswith("gradient")


def save(folder: Path, evidence: Evidence) -> Path:
    """Keep an anomaly, and let the oldest go where the folder is full.

    Raises:
        BadInput: its batch is too large, or holds what cannot be kept.
        OSError: it cannot be written.
    """
    if evidence.now.call.size() > MOST_BATCH:
        raise BadInput(f"The batch is larger than {MOST_BATCH >> 20} MB and is not kept.")
    content = {"version": VERSION, **_plain(evidence)}
    folder.mkdir(parents=True, exist_ok=True)
    whole_files.sweep(folder, older_than=_OLD)
    path = folder / f"{evidence.ref}{SUFFIX}"
    whole_files.write(path, lambda file: sys.modules["torch"].save(content, file))
    _make_room(folder, path)
    return path


def find(named: str, folder: Path) -> Path:
    """Return the file that a failure's ref, or a path, names.

    Raises:
        NotFound: there is none.
    """
    for path in (Path(named), folder / f"{named}{SUFFIX}"):
        if path.is_file():
            return path
    raise NotFound(f"There is no evidence of {named} in {folder}; say where with --evidence.")


def read(path: Path) -> Evidence:
    """Read what was kept; nothing in it is run as code.

    Raises:
        BadInput: it is no evidence, or a damaged one.
        StorageFailed: it cannot be read.
        ModuleNotFoundError: torch is not installed here.
    """
    importlib.import_module("torch")
    try:
        content = loaded(path)
        return _evidence(content)
    except OSError as error:
        raise StorageFailed(f"{path} cannot be read: {error.strerror}.") from None
    except Exception:  # noqa: BLE001 (torch raises many kinds where a file is none of its own)
        raise BadInput(f"{path} is no evidence that this version reads, or damaged.") from None


def _evidence(content: dict[str, Any]) -> Evidence:
    if content.pop("version") != VERSION:
        raise ValueError("kept by another version")
    content["kind"] = FailureKind(content["kind"])
    content["now"] = _moment(content["now"])
    content["before"] = None if content["before"] is None else _moment(content["before"])
    return Evidence(**content)


def _moment(content: Mapping[str, Any]) -> Moment:
    call = Call(**content["call"])
    return Moment(**{**content, "call": call})


def _plain(evidence: Evidence) -> dict[str, Any]:
    left_out: list[str] = []
    told = {part.name: getattr(evidence, part.name) for part in fields(evidence)}
    for name in ("now", "before"):
        moment = told[name]
        told[name] = None if moment is None else _of_moment(moment)
    plain: dict[str, Any] = storable({**told, "kind": evidence.kind.value}, left_out.append)
    if any(".call" in place for place in left_out):
        raise BadInput(f"The batch cannot be kept: it holds {left_out[0].lstrip('.')}.")
    return plain


def _of_moment(moment: Moment) -> dict[str, Any]:
    told = {part.name: getattr(moment, part.name) for part in fields(moment)}
    call = moment.call.to("cpu")
    told["call"] = {"args": call.args, "kwargs": call.kwargs, "targets": call.targets}
    told["samples"] = [_sample(one) for one in moment.samples]
    return told


def _sample(sample: Any) -> Any:
    if is_dataclass(sample) and not isinstance(sample, type):
        return asdict(sample)
    return os.fsdecode(sample) if isinstance(sample, str | bytes | os.PathLike) else sample


def _make_room(folder: Path, newest: Path) -> None:
    """Delete the oldest files beyond what a folder may hold."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            found.append((path == newest, path.stat().st_mtime_ns, path.stat().st_size, path))
    found.sort(key=lambda one: one[:2], reverse=True)
    room = MOST_BYTES
    for place, (_, _, size, path) in enumerate(found):
        room -= size
        if place and (place >= MOST_FILES or room < 0):
            with suppress(OSError):
                path.unlink()
