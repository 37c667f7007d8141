"""Checkpoint files: named, put together, read, and described without a manifest."""

import hashlib
import importlib
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sickbay.contract.errors import BadInput, NotFound, SickbayError, StorageFailed
from sickbay.trainer import complaints, surroundings, whole_files
from sickbay.trainer.checkpoints.content import loaded
from sickbay.trainer.checkpoints.folder import SUFFIX, VERSION, Entry
from sickbay.trainer.storable import storable


@dataclass(frozen=True, slots=True)
class Note:
    """What the manifest says of a checkpoint beside its file; see ``folder.Entry``."""

    kind: str
    good: bool
    number: int
    metric: float | None = None


def read(path: Path, device: Any = "cpu") -> dict[str, Any]:
    """Read a checkpoint; nothing in it is run as code.

    Raises:
        NotFound: there is no such file.
        BadInput: it is no checkpoint of ours.
        StorageFailed: it cannot be read.
    """
    importlib.import_module("torch")
    try:
        content: Any = loaded(path, device)
    except FileNotFoundError:
        raise NotFound(f"There is no checkpoint at {path}.") from None
    except OSError as error:
        raise StorageFailed(f"{path} cannot be read: {error.strerror}.") from None
    except Exception:  # noqa: BLE001 (torch raises many kinds where a file is none of its own)
        raise BadInput(f"{path} is no checkpoint, or a damaged one.") from None
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise BadInput(f"{path} is no checkpoint that this version of sickbay saved.")
    return content


def in_a_line(error: BaseException, most: int = 300) -> str:
    """Return what an exception says as one line: torch lists keys in many."""
    said = " ".join(str(error).split())
    return said if len(said) <= most else f"{said[:most]} …"


def described(path: Path) -> Entry | None:
    """Return the entry of a checkpoint by its own content; nothing where it is torn."""
    with suppress(SickbayError, OSError, KeyError, TypeError):
        content = read(path)
        digest = whole_files.Written(whole_files.sha256(path), path.stat().st_size)
        return entry_of(path, digest, content, Note(**content["note"]))
    return None


def launch_mark() -> str:
    """Return what the ranks of one launch have in common, and another launch has not.

    The ranks name a checkpoint that the first of them writes.
    """
    if surroundings.read().rank.world_size == 1:
        return secrets.token_hex(4)
    said = "|".join(os.environ.get(name, "") for name in _OF_LAUNCH)
    return hashlib.sha256(said.encode()).hexdigest()[:8]


def put_together(
    step: int,
    epoch: int | None,
    random: Mapping[str, Any],
    state: Mapping[str, Any],
    extra: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the content of a checkpoint."""

    def left_out(place: str) -> None:
        complaints.once(f"left out {place}", "a checkpoint cannot hold %s; it lacks it.", place)

    return {
        "version": VERSION,
        "step": int(step),
        "epoch": epoch,
        "state": state,
        "random": random,
        "extra": storable(dict(extra or {}), left_out, "extra"),
    }


def entry_of(
    path: Path, written: whole_files.Written, content: Mapping[str, Any], note: Note
) -> Entry:
    """Return what the manifest says of a checkpoint."""
    step, epoch = content["step"], content["epoch"]
    return Entry(path.name, written.sha256, written.size, step, epoch=epoch, **asdict(note))


def name_of(kind: str, step: int, mark: str) -> str:
    """Return a file's name."""
    return f"{kind}-{step:09d}-{mark}{SUFFIX}"


_OF_LAUNCH = (
    "SICKBAY_LAUNCH",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "MASTER_ADDR",
    "MASTER_PORT",
)
