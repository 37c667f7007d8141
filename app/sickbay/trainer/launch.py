"""What tells one launch of a training from another: the same for all its ranks, new each time.

The server numbers a run's attempts by it. Nothing here talks to the server or to other hosts,
but where a process group is up already, its store may be asked.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sickbay.trainer.surroundings import distributed

_counts: dict[str, int] = {}


def count(name: str) -> int:
    """Return how often a run of this name has been begun in this process, this time included."""
    _counts[name] = _counts.get(name, 0) + 1
    return _counts[name]


def launch_id(world_size: int, nth: int = 1, environment: Mapping[str, str] = os.environ) -> str:
    """Return the launch of this process; its n-th run of one name gets one of its own.

    May ask the process group's store, so that it belongs into a thread of the kit.
    """
    launch = _launch(world_size, nth, environment)
    return launch if nth == 1 else f"{launch}#{nth}"


def _launch(world_size: int, nth: int, environment: Mapping[str, str]) -> str:
    if given := environment.get("SICKBAY_LAUNCH"):
        return given[:190]
    elastic = environment.get("TORCHELASTIC_RUN_ID", "")
    restart = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    # "none" is what torchrun calls every launch that was given no id.
    if elastic not in ("", "none"):
        return f"elastic:{elastic[:150]}:{restart[:9]}"
    if job := environment.get("SLURM_JOB_ID"):
        step = environment.get("SLURM_STEP_ID", "batch")
        return f"slurm:{job[:40]}.{step[:40]}:{environment.get('SLURM_RESTART_COUNT', '0')[:9]}"
    if world_size == 1:
        return _random()
    return (
        _shared_on_host(environment, restart)
        or _shared_by_store(nth)
        or _shared_address(environment, restart)
    )


def _random() -> str:
    return f"random:{secrets.token_hex(12)}"


def _shared_on_host(environment: Mapping[str, str], restart: str) -> str | None:
    """Return an id made from the launcher, the parent of all ranks where one host has them all."""
    if not environment.get("WORLD_SIZE") or environment.get("LOCAL_WORLD_SIZE") != environment.get(
        "WORLD_SIZE"
    ):
        return None
    with suppress(OSError, IndexError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
        parent = Path(f"/proc/{os.getppid()}/stat").read_text("utf-8", "replace")
        started = parent.rpartition(")")[2].split()[19]  # field 22: ticks from boot to its start
        return _digest("launcher", boot, str(os.getppid()), started, restart)
    return None


def _shared_by_store(nth: int) -> str | None:
    """Agree on a random id through the process group's own store; the first to ask decides."""
    group: Any = distributed()
    if group is None:
        return None
    with suppress(Exception):
        store = group.distributed_c10d._get_default_store()  # noqa: SLF001 (torch has no other)
        key = f"sickbay/launch/{nth}"
        return bytes(store.compare_set(key, "", _random())).decode("ascii")[:190]
    return None


def _shared_address(environment: Mapping[str, str], restart: str) -> str:
    """Fall back to the address where the ranks meet; not unique, which the server can tell."""
    names = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "TORCHELASTIC_RUN_ID")
    if not environment.get("MASTER_ADDR"):
        return _random()
    return _digest("address", *(environment.get(name, "") for name in names), restart)


def _digest(kind: str, *parts: str) -> str:
    return f"{kind}:{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:24]}"
