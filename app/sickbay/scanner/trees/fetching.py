"""Bringing the files of a remote data set to the machine that checks them."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

from sickbay.contract.finding import Finding
from sickbay.scanner.task import Task
from sickbay.scanner.trees.store import Store, said
from sickbay.scanner.where import Given, needed

MAX_BYTES = 192 << 20
"""Of one file: the child has it twice while it takes it in, and its memory is limited."""
_AT_ONCE = 8  # files on their way
_TOGETHER = 32 << 20  # bytes of files that are here at one time, unless one alone has more


@dataclass(frozen=True, slots=True)
class Remote:
    """Files behind a URL: fetched here, so that the child needs neither network nor credentials."""

    url: str

    def at_hand(self, tasks: Sequence[Task]) -> Iterator[tuple[Given, Sequence[Task]]]:
        """Fetch the files of some tasks at a time; what cannot be fetched is a finding."""
        store = _store(self.url)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            names = needed(tasks)
            sizes = dict(zip(names, pool.map(store.size, names), strict=True))
            for group in _groups(tasks, sizes):
                names = needed(group)
                fetched = pool.map(partial(_fetched, store), names, map(sizes.get, names))
                yield _given(dict(zip(names, fetched, strict=True))), group

    def reachable(self) -> bool:
        """Each file is asked for on its own."""
        return True


@cache
def _store(url: str) -> Store:
    return Store(url)


def _groups(tasks: Sequence[Task], sizes: Mapping[bytes, int | None]) -> Iterator[list[Task]]:
    group: list[Task] = []
    total = 0
    for task in tasks:
        size = sum(sizes[raw] or 0 for raw in needed([task]))
        if group and total + size > _TOGETHER:
            yield group
            group, total = [], 0
        group.append(task)
        total += size
    if group:
        yield group


def _given(fetched: Mapping[bytes, bytes | Finding | None]) -> Given:
    return Given(
        {raw: data for raw, data in fetched.items() if isinstance(data, bytes)},
        {raw: fault for raw, fault in fetched.items() if isinstance(fault, Finding)},
    )


def _fetched(store: Store, raw: bytes, size: int | None) -> bytes | Finding | None:
    """Fetch a file: its bytes, why there are none, or nothing where it is missing."""
    if size is not None and size > MAX_BYTES:
        return _too_large(size)
    try:
        data = store.read(raw, None if size is not None else MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except Exception as error:  # noqa: BLE001 (each kind of store has its own)
        return Finding.of("file.unreadable", "", f"The file cannot be read: {said(error)}.")
    return data if len(data) <= MAX_BYTES else _too_large(len(data))


def _too_large(size: int) -> Finding:
    message = f"A file of {size} bytes needs more memory to check than is allowed."
    return Finding.of("decoder.out-of-memory", "", message, limit=MAX_BYTES)
