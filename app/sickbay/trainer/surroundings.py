"""Where this process stands: server, spool and rank, read from its environment.

``SICKBAY_URL``, ``SICKBAY_TOKEN``, ``SICKBAY_MODE`` (online, offline, disabled) and
``SICKBAY_SPOOL`` are ours. The rank comes from an initialised ``torch.distributed``, else from
``RANK``, ``LOCAL_RANK`` and ``WORLD_SIZE``, else from SLURM's variables inside ``srun``.
"""

import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from sickbay.trainer import complaints


class Mode(StrEnum):
    """Whether events are sent at once, kept for ``sickbay sync``, or not taken at all."""

    ONLINE = "online"
    OFFLINE = "offline"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Rank:
    """Which process of how many this is."""

    rank: int = 0
    local_rank: int = 0
    world_size: int = 1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Server, mode, spool folder and rank of this process."""

    mode: Mode
    url: str
    spool: Path
    rank: Rank
    host: str
    token: str | None = field(default=None, repr=False)


def read(environment: Mapping[str, str] = os.environ) -> Surroundings:
    """Read the environment; what makes no sense in it is left out and complained of."""
    url = environment.get("SICKBAY_URL", "").strip()
    return Surroundings(
        mode=_mode(environment.get("SICKBAY_MODE", ""), url),
        url=url,
        spool=Path(environment.get("SICKBAY_SPOOL") or _cache(environment)).absolute(),
        rank=_rank(environment),
        host=socket.gethostname()[:255],
        token=environment.get("SICKBAY_TOKEN", "").strip() or None,
    )


def distributed() -> Any:
    """Return ``torch.distributed`` where a process group is up, else nothing; imports nothing."""
    found: Any = sys.modules.get("torch.distributed")
    with suppress(Exception):
        if found is not None and found.is_available() and found.is_initialized():
            return found
    return None


def _mode(said: str, url: str) -> Mode:
    if said.lower() in set(Mode):
        mode = Mode(said.lower())
    else:
        mode = Mode.ONLINE if url else Mode.OFFLINE
        if said:
            complaints.once("mode", "SICKBAY_MODE is none of online, offline, disabled.")
    if mode is Mode.ONLINE and not url:
        complaints.once("url", "SICKBAY_URL is not set; the run is kept for `sickbay sync`.")
        return Mode.OFFLINE
    return mode


def _cache(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "sickbay" / "spool"  # noqa: PTH111 (never raises)


def _rank(environment: Mapping[str, str]) -> Rank:
    if group := distributed():
        local = _number(environment, ("LOCAL_RANK", "SLURM_LOCALID"), 0)
        return Rank(group.get_rank(), local, group.get_world_size())
    inside_srun = "SLURM_STEP_ID" in environment and "RANK" not in environment
    slurm = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS") if inside_srun else ("", "", "")
    rank = _number(environment, ("RANK", slurm[0]), 0)
    local = _number(environment, ("LOCAL_RANK", slurm[1]), 0)
    world = _number(environment, ("WORLD_SIZE", slurm[2]), 1)
    return Rank(rank, local, max(world, rank + 1))


def _number(environment: Mapping[str, str], names: tuple[str, ...], default: int) -> int:
    for name in names:
        value = environment.get(name, "")
        if value.isascii() and value.isdecimal() and len(value) < 9:  # noqa: PLR2004 (no such rank)
            return int(value)
    return default
