"""What earlier scans of one data set found, merged with the walk of this one."""

import hashlib
import json
import marshal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from sickbay.contract.finding import Finding
from sickbay.scanner import wire
from sickbay.scanner.cache.blocks import checksum_of
from sickbay.scanner.cache.keeping import PART, SAME, WHOLE, Counts, Keeper
from sickbay.scanner.cache.kept import NOTHING, SAMPLE, Kept, kept
from sickbay.scanner.cache.versions import setup_digest
from sickbay.scanner.evidence import Examined
from sickbay.scanner.sources import Found
from sickbay.scanner.task import Setup, also
from sickbay.scanner.trees import Key, Tree

SETTLED = 2_000_000_000
"""Nanoseconds: the coarsest clock of a file system in use, FAT's, ticks every two seconds."""
Keys: TypeAlias = list[Key | None]
_PARTS = 64  # scans that ended early and are looked into
_OF_ITSELF = {"picture", "text", "row", "array"}  # kinds that no class's name says anything of
_NO_FILES = {"row"}  # kinds whose content comes with their task
_PASSING = ("decoder.", "file.changed", "file.unreadable", "file.missing")
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(slots=True)
class Cursor:
    """The samples of one file, merged with a walk: both ascend by raw path."""

    path: Path
    passed: int = 0
    _rest: Iterator[Kept] = field(init=False)
    _next: Kept | None = field(init=False)

    def __post_init__(self) -> None:
        self._rest = (one for one in kept(self.path) if one.what == SAMPLE)
        self._next = next(self._rest, None)

    def find(self, raw: bytes) -> Kept | None:
        """Return what is kept of a sample; what the walk does not meet is counted."""
        while self._next is not None and self._next.raw < raw:
            self._next = next(self._rest, None)
            self.passed += 1
        if self._next is None or self._next.raw != raw:
            return None
        found, self._next = self._next, next(self._rest, None)
        return found

    def end(self) -> int:
        """Return how many samples the walk did not meet."""
        if self._next is not None:
            self.passed += 1 + sum(1 for _ in self._rest)
            self._next = None
        return self.passed


class Earlier:
    """Looks up what still holds, and gives what is new to its ``keeper``."""

    def __init__(self, folder: Path, counts: Counts, *, began: int, verify: bool) -> None:
        self.counts = counts
        self.since = began - SETTLED
        self.keeper = Keeper(folder, began, counts)
        self._folder = folder
        self._verify = verify
        self._setup = Setup()
        self._digests: dict[bool, bytes] = {}
        parts = sorted(folder.glob(f"{PART}*"), reverse=True)[:_PARTS]
        self._whole = Cursor(folder / WHOLE)
        self._cursors = [*map(Cursor, parts), self._whole]
        self._expected: dict[bytes, str] = {}

    def again(self, same: bytes | None) -> Iterator[Kept] | None:
        """Return the records of the last whole scan where nothing at all changed since.

        Args:
            same: digest of the tree and of how it is scanned, where there is one.
        """
        path = self._folder / WHOLE
        try:
            seen = (self._folder / SAME).read_bytes()
        except OSError:
            return None
        if self._verify or same is None or seen != same + checksum_of(path):
            return None
        return kept(path, believed=True)

    def begin(self, setup: Setup) -> None:
        """Take in how samples are checked."""
        self._setup = setup
        self._digests = {named: setup_digest(setup, classes=named) for named in (True, False)}

    def same(self, tree: Tree, setup: Setup) -> bytes | None:
        """Digest a tree and how it is scanned; nothing where the tree changed a moment ago."""
        seen = tree.digest(self.since)
        if seen is None:
            return None
        return hashlib.blake2b(setup_digest(setup, classes=True) + seen, digest_size=32).digest()

    def keys(self, tree: Tree, sample: Found) -> Keys | None:
        """Return the keys of a sample's files; nothing where it must be read in any case."""
        if sample.kind in _NO_FILES:
            return []
        key = tree.key(sample.raw)
        if key is None or not tree.settled(key, self.since):
            return None
        if sample.side is None:
            return [key]
        more = also(sample.given) if sample.kind == "mask" else ()
        beside = [tree.key(raw) for raw in (sample.side, *more)]
        if not all(one is None or tree.settled(one, self.since) for one in beside):
            return None
        return [key, *beside]

    def find(
        self, raw: bytes, kind: str, keys: Sequence[Key | None] | None, task: bytes
    ) -> tuple[bytes, Examined | None]:
        """Return a sample's signature, and what was found where that still holds."""
        here = [one for cursor in self._cursors if (one := cursor.find(raw)) is not None]
        if keys is None:
            return NOTHING, None
        decides = (self._digests[kind not in _OF_ITSELF], [*keys], task)
        signature = hashlib.blake2b(marshal.dumps(decides, 2), digest_size=16).digest()
        for one in here:
            if one.signature == signature and (found := _examined(one)) is not None:
                return signature, self._believed(raw, found)
        return signature, None

    def _believed(self, raw: bytes, found: Examined) -> Examined | None:
        if self._verify:
            self._expected[raw] = found.sha256 or ""
            return None
        self.counts.reused += 1
        return found

    def came(self, raw: bytes, signature: bytes, found: Examined) -> Examined:
        """Keep what was found in a sample just read; the scan may end early."""
        self.counts.read += 1
        before = self._expected.pop(raw, None)
        if before is not None and found.sha256 not in {None, before}:
            changed = self._setup.policy.applied([_changed_unseen(before)])
            return replace(found, findings=(*found.findings, *changed))
        if signature != NOTHING and not passing(found.findings):
            thumbnail = found.thumbnail or b""
            self.keeper.found(Kept(SAMPLE, raw, signature, facts(found), b"", thumbnail))
        return found

    def end(self) -> None:
        """Count what is gone, once all samples were looked up."""
        self.counts.gone = self._whole.end()

    def close(self) -> None:
        """Keep what came so far."""
        self.keeper.close()


def facts(found: Examined) -> bytes:
    """What was found, as a cache keeps it."""
    return _encode(wire.from_examined(found)).encode("ascii")


def passing(findings: Sequence[Finding]) -> bool:
    """Whether a finding is of a moment, and may not be there the next time."""
    return any(finding.code.startswith(_PASSING) for finding in findings)


def _examined(one: Kept) -> Examined | None:
    try:
        found = wire.to_examined(json.loads(one.facts), one.thumbnail)
    except (wire.Closed, ValueError):
        return None
    return None if found.sha256 is None else found


def _changed_unseen(before: str) -> Finding:
    message = "The content is not what it was in an earlier scan, though size and times are."
    return Finding.of("file.changed", "", message, before=before)
