"""Checking on a Dask cluster: ``--executor dask://HOST:8786``.

Its workers see the same folder at the same path and have the same versions of everything that
looks into samples; both is asked before anything is read. They are daemons, which start no
processes of ``multiprocessing``, but guarded children start by ``subprocess``. A scheduler of
one million files has a few hundred batches to remember, at most three for each thread.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sickbay.contract.errors import BadInput, Unreachable
from sickbay.scanner.cache.versions import versions
from sickbay.scanner.where import Below, Place

if TYPE_CHECKING:
    from distributed import Client

SHARE = 8
"""Times larger than usual: a batch goes over the network and through a scheduler."""
_URL = re.compile(r"dask://([^/\s]+:\d+)/?")
_RETRIES = 2  # of a batch that failed, by the scheduler; we try once more, and then here


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster: how to use it, how many threads its workers have, whether any is there still."""

    executor: Executor
    threads: int
    alive: Callable[[], bool]


@contextmanager
def connected(url: str, place: Place, patience: float = 10.0) -> Iterator[Cluster]:
    """Connect to a cluster.

    Args:
        url: ``dask://HOST:PORT`` of the scheduler.
        place: where the files are, which the workers must see as well.
        patience: seconds to wait for the scheduler, and for its first worker.

    Raises:
        BadInput: it is no such URL, Dask is not installed here, or a worker is not fit.
        Unreachable: no scheduler answers, or it has no workers.
    """
    if (parts := _URL.fullmatch(url)) is None:
        raise BadInput(f"{url!r} is no executor; give dask://HOST:PORT of a scheduler.")
    client = _client(f"tcp://{parts[1]}", patience)
    try:
        threads = _workers(client, url, patience)
        _refuse_unfit(client, place.root if isinstance(place, Below) else None)
        executor = client.get_executor(pure=False, retries=_RETRIES)
        yield Cluster(executor, threads, partial(_alive, client))
    finally:
        client.close()


def _client(address: str, patience: float) -> "Client":
    try:
        from distributed import Client  # noqa: PLC0415 (an extra)
    except ImportError:
        raise BadInput(
            "A Dask cluster needs Dask here too: pip install 'sickbay[cluster]'."
        ) from None
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError):
        raise Unreachable(
            f"No Dask scheduler answers at {address}; check the address, or start one with "
            "`dask scheduler`."
        ) from None


def _workers(client: "Client", url: str, patience: float) -> int:
    """Return the number of threads, once there is a worker."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise Unreachable(
            f"The scheduler at {url} has no workers; start some with `dask worker`."
        ) from None
    return sum(client.nthreads().values())


def _alive(client: "Client") -> bool:
    try:
        return bool(client.nthreads())
    except Exception:  # noqa: BLE001 (whatever says that the scheduler is gone)
        return False


def _refuse_unfit(client: "Client", root: str | None) -> None:
    """Refuse a cluster one of whose workers would find something else than we."""
    for worker, answer in client.run(described, root, on_error="return").items():
        if not isinstance(answer, tuple):
            raise BadInput(
                f"The worker {worker} cannot run Sickbay ({answer}); install there what is here."
            )
        theirs, seen = answer
        if theirs != versions():
            other = ", ".join(sorted(set(theirs) - set(versions()))) or "less"
            raise BadInput(f"The worker {worker} has {other}; install the same versions as here.")
        if root is not None and seen != names(root):
            raise BadInput(
                f"The worker {worker} does not see the folder {root!r} as it is here; mount it "
                "there at the same path."
            )


def described(root: str | None) -> tuple[tuple[str, ...], str | None]:
    """Say what a worker is: its versions, and what it sees of the root."""
    return versions(), None if root is None else names(root)


def names(root: str) -> str | None:
    """Digest the names in a folder; nothing where it cannot be read."""
    try:
        found = sorted(os.listdir(os.fsencode(root)))  # noqa: PTH208 (names as bytes)
    except OSError:
        return None
    return hashlib.blake2b(b"\0".join(found), digest_size=16).hexdigest()
