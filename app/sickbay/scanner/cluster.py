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
from pathlib import Path
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
def connected(
    url: str, place: Place, tokenizer: str | None = None, patience: float = 10.0
) -> Iterator[Cluster]:
    """Connect to a cluster.

    Args:
        url: ``dask://HOST:PORT`` of the scheduler.
        place: where the files are, which the workers must see as well.
        tokenizer: path of the file that counts tokens, which they must see too.
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
        root = place.root if isinstance(place, Below) else None
        _refuse_unfit(client, Needs(root, tokenizer))
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


def _refuse_unfit(client: "Client", needs: "Needs") -> None:
    """Refuse a cluster one of whose workers would find something else than we."""
    here = needs.seen()
    for worker, there in client.run(needs.seen, on_error="return").items():
        if not isinstance(there, Seen):
            why = " ".join(str(there).split())[:200]
            raise BadInput(f"The worker {worker} cannot run Sickbay ({why}); install it there.")
        if there.versions != here.versions:
            other = ", ".join(sorted(set(there.versions) - set(here.versions))) or "less"
            raise BadInput(f"The worker {worker} has {other}; install the same versions as here.")
        if there.names != here.names:
            raise BadInput(
                f"The worker {worker} does not see the folder {needs.root!r} as it is here; mount "
                "it there at the same path."
            )
        if there.tokenizer != here.tokenizer:
            raise BadInput(
                f"The worker {worker} does not see the tokenizer {needs.tokenizer!r} as it is "
                "here; put it there at the same path."
            )


@dataclass(frozen=True, slots=True)
class Seen:
    """What a machine has and sees: versions, the names in the root, the tokenizer's bytes."""

    versions: tuple[str, ...]
    names: str | None
    tokenizer: str | None


@dataclass(frozen=True, slots=True)
class Needs:
    """What a machine that checks must see, where anything but the versions matters."""

    root: str | None
    tokenizer: str | None

    def seen(self) -> Seen:
        """Look at it from here."""
        return Seen(
            versions(),
            None if self.root is None else _names(self.root),
            None if self.tokenizer is None else _content(self.tokenizer),
        )


def _names(root: str) -> str | None:
    """Digest the names in a folder; nothing where it cannot be read."""
    try:
        found = sorted(os.listdir(os.fsencode(root)))  # noqa: PTH208 (names as bytes)
    except OSError:
        return None
    return hashlib.blake2b(b"\0".join(found), digest_size=16).hexdigest()


def _content(path: str) -> str | None:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
