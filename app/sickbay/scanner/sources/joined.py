"""What lies in a data set beside what its annotation files say, brought into one order.

Neither is held in memory: both go into a temporary database that is gone with the process.

    with closing(Joined(tree)) as joined:
        joined.say(b"images/a.jpg", {"label": "cat"})
        for place in joined.places():
            ...
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from sickbay.contract.errors import StorageFailed
from sickbay.scanner import wire
from sickbay.scanner.trees import Entry, Skipped, Tree, What

_TOGETHER = 2000  # rows a write
_CACHE_KIB = 32 << 10
_SKIPPED = "skipped"  # where an entry says what it is
_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE;
CREATE TABLE entry (raw BLOB PRIMARY KEY, what TEXT, reason TEXT, findings TEXT) WITHOUT ROWID;
CREATE TABLE said (number INTEGER PRIMARY KEY, raw BLOB, value TEXT);
"""
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Place:
    """One path below the root.

    Attributes:
        raw: the path.
        entry: what lies there; nothing where only an annotation file names it.
        said: what annotation files say of it, in the order they said it; at most as many as
            were asked for.
        count: how often something was said of it in all.
    """

    raw: bytes
    entry: Entry | Skipped | None
    said: list[Any] = field(default_factory=list)
    count: int = 0


class Joined:
    """A walk of a tree, and what is said of its paths.

    Raises:
        StorageFailed: the disk for temporary files is full; so do the methods.
    """

    def __init__(self, tree: Tree) -> None:
        with storing():
            self.database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            self.database.executescript(_TABLES)
            self.database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._said = Rows(self, "said (raw, value)", 2)
        self._named = False
        self.fill("entry", 4, (_row(item) for item in tree.entries()))

    def fill(self, table: str, columns: int, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table, many at a time."""
        command = f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 (our own names)
        left = iter(rows)
        while some := list(islice(left, _TOGETHER)):
            with storing():
                self.database.execute("BEGIN")
                self.database.executemany(command, some)
                self.database.execute("COMMIT")

    def lies(self, raw: bytes) -> bool:
        """Whether a sample may lie at that path: a file, or what should be one."""
        found = self.database.execute(
            "SELECT what FROM entry WHERE raw = ? AND what != ?", (raw, _SKIPPED)
        )
        return found.fetchone() is not None

    def holds(self, folder: bytes) -> bool:
        """Whether anything lies in a folder, at any depth."""
        found = self.database.execute(
            "SELECT 1 FROM entry WHERE raw > ? AND raw < ? LIMIT 1", (folder + b"/", folder + b"0")
        )
        return found.fetchone() is not None

    def called(self, name: bytes) -> bytes | None:
        """Return the only path whose last part is that name; nothing where several are."""
        if not self._named:
            self._index_names()
        found = self.database.execute("SELECT raw FROM tail WHERE name = ? LIMIT 2", (name,))
        paths = found.fetchall()
        return bytes(paths[0][0]) if len(paths) == 1 else None

    def files(self, suffix: bytes) -> Iterator[bytes]:
        """Yield the files whose name ends so, in ascending order."""
        rows = self.database.execute("SELECT raw FROM entry WHERE what = ? ORDER BY raw", ("FILE",))
        return (bytes(raw) for (raw,) in rows if raw.lower().endswith(suffix))

    def say(self, raw: bytes, value: Any) -> None:
        """Note what an annotation file says of a path, as JSON."""
        self._said.add(raw, _encode(value))

    def places(self, most: int = 1000) -> Iterator[Place]:
        """Yield every path that lies there or is named, in ascending order.

        Args:
            most: of what is said of one path, how much is given at most.
        """
        self._said.flush()
        with storing():
            self.database.execute("CREATE INDEX IF NOT EXISTS of_path ON said (raw, number)")
        entries = self.database.execute(
            "SELECT raw, what, reason, findings FROM entry ORDER BY raw"
        )
        said = self.database.execute("SELECT raw, value FROM said ORDER BY raw, number")
        groups = groupby(said, key=_first)
        named = next(groups, None)
        for row in entries:
            entry = _entry(*row)
            while named is not None and named[0] < entry.raw:
                yield _place(named[0], None, named[1], most)
                named = next(groups, None)
            if named is not None and named[0] == entry.raw:
                yield _place(entry.raw, entry, named[1], most)
                named = next(groups, None)
            else:
                yield Place(entry.raw, entry)
        while named is not None:
            yield _place(named[0], None, named[1], most)
            named = next(groups, None)

    def close(self) -> None:
        """Give the space back."""
        self.database.close()

    def _index_names(self) -> None:
        with storing():
            self.database.execute("CREATE TABLE tail (name BLOB, raw BLOB)")
            rows = self.database.execute("SELECT raw FROM entry WHERE what != ?", (_SKIPPED,))
            self.fill("tail", 2, ((raw.rpartition(b"/")[2], raw) for (raw,) in rows))
            self.database.execute("CREATE INDEX by_name ON tail (name)")
        self._named = True


class Rows:
    """Rows on their way into one table, written many at a time."""

    def __init__(self, joined: Joined, table: str, columns: int) -> None:
        self._joined = joined
        self._table = table
        self._columns = columns
        self._waiting: list[tuple[Any, ...]] = []

    def add(self, *row: Any) -> None:
        """Add one row."""
        self._waiting.append(row)
        if len(self._waiting) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        self._joined.fill(self._table, self._columns, self._waiting)
        self._waiting.clear()


@contextmanager
def storing() -> Iterator[None]:
    """Say in a sentence that the temporary database cannot grow.

    Raises:
        StorageFailed: it cannot.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise StorageFailed(
            f"The folder for temporary files ({tempfile.gettempdir()!r}) cannot be written: "
            f"{error}; free some space or set TMPDIR."
        ) from None


def _row(item: Entry | Skipped) -> tuple[bytes, str, str, str | None]:
    if isinstance(item, Entry):
        return item.raw, item.what.name, "", None
    found = _encode(wire.from_findings([item.finding])) if item.finding else None
    return item.raw, _SKIPPED, item.reason, found


def _entry(raw: bytes, what: str, reason: str, findings: str | None) -> Entry | Skipped:
    if what != _SKIPPED:
        return Entry(raw, What[what])
    finding = wire.to_findings(json.loads(findings))[0] if findings else None
    return Skipped(raw, reason, finding)


def _first(row: tuple[bytes, str]) -> bytes:
    return row[0]


def _place(
    raw: bytes, entry: Entry | Skipped | None, rows: Iterable[tuple[bytes, str]], most: int
) -> Place:
    said, count = [], 0
    for _, value in rows:
        count += 1
        if count <= most:
            said.append(json.loads(value))
    return Place(raw, entry, said, count)
