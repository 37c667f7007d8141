"""A file of arrays: read once, in pieces, so that its size matters for the time only."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO, cast

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.scanner.arrays import Array, Fault, Stream
from sickbay.scanner.arrays.pieces import Hashed
from sickbay.scanner.arrays.readers import HEAD_BYTES, SUFFIXES, reader
from sickbay.scanner.arrays.watch import Watch
from sickbay.scanner.checks import arrays as checks
from sickbay.scanner.checks import files as file_checks
from sickbay.scanner.checks.most import bounded
from sickbay.scanner.evidence import ArrayFacts, Examined
from sickbay.scanner.examine import Files
from sickbay.scanner.task import FULL, HASH_ONLY, Setup, Task

_MAX_FACTS = 1000  # arrays of one file that are compared with those of others


def examine(files: Files, task: Task, setup: Setup, care: int) -> Examined:
    """Check a file of arrays."""
    try:
        file = files.open(task.raw)
    except tuple(file_checks.CODES) as error:
        return file_checks.fault(error)
    with file:
        try:
            return _Reading(file, setup).examined(SamplePath(task.raw).suffix, care)
        except OSError as error:
            message = f"The file cannot be read: {error.strerror}."
            return Examined(findings=(Finding.of("file.unreadable", "", message),))


@dataclass(slots=True)
class _Reading:
    """One file, what it holds and what is wrong with it."""

    file: BinaryIO
    setup: Setup
    format: str | None = None
    arrays: list[Array] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    head: bytes = b""
    whole: bool = False

    def examined(self, suffix: str, care: int) -> Examined:
        """Read it and say what was found."""
        before = _facts(self.file)
        hashed, size = Hashed(self.file), before.size or 0
        if care < HASH_ONLY:
            self._read(hashed, size, suffix)
        if not self.whole and size > self.setup.limits.file_bytes:
            return self._made(before, None)
        digest = hashed.finish()
        if _facts(self.file) != before:
            message = "The file changed while it was read."
            return replace(before, findings=(Finding.of("file.changed", "", message),))
        return self._made(before, digest)

    def _made(self, facts: Examined, digest: str | None) -> Examined:
        """Put together what is known; a file too large to hash for nothing has no digest."""
        only = self.arrays[0] if len(self.arrays) == 1 else None
        return replace(
            facts,
            sha256=digest,
            format=self.format,
            mode=None if only is None else only.elements.name,
            findings=tuple(bounded(self.findings)),
            head=self.head.hex() or None,
            arrays=tuple(
                ArrayFacts(one.item, one.shape, one.elements.name)
                for one in self.arrays[:_MAX_FACTS]
            ),
            decoded=self.whole and self.setup.depth == FULL,
        )

    def _read(self, file: Hashed, size: int, suffix: str) -> None:
        if not size:
            self.findings.append(Finding.of("file.empty", "", "The file has no content."))
            self.whole = True
            return
        self.head = file.read(HEAD_BYTES)
        file.seek(0)
        try:
            self.format = SUFFIXES[suffix]
            self.format, read = reader(suffix, self.head)
            self._streams(read(cast("BinaryIO", file), size))
            self.whole = True
        except Fault as fault:
            self._fault(fault)

    def _streams(self, streams: Iterator[Stream | Fault]) -> None:
        for one in streams:
            if isinstance(one, Fault):
                self._fault(one)
                continue
            self.arrays += one.arrays
            try:
                self._look(one)
            except Fault as fault:
                self._fault(fault, one.arrays[0] if len(one.arrays) == 1 else None)
        alone = len(self.arrays) == 1
        expected = self.setup.policy.expect_shape
        for array in self.arrays:
            self._add(checks.wrong_shape(array, expected, alone=alone))

    def _look(self, stream: Stream) -> None:
        if self.setup.depth != FULL:
            return
        watches, at = [Watch(array) for array in stream.arrays], 0
        for piece in stream.pieces(stream.step):
            for watch in watches:
                watch.look(piece, at)
            at += len(piece)
        for watch in watches:
            watch.end()
            self._add(checks.not_finite(watch))

    def _fault(self, fault: Fault, array: Array | None = None) -> None:
        """Say each thing once, though a reader may stumble over it twice."""
        finding = checks.faulty(fault, array, self.head)
        if (finding.code, finding.item) not in {(one.code, one.item) for one in self.findings}:
            self.findings.append(finding)

    def _add(self, finding: Finding | None) -> None:
        if finding is not None:
            self.findings.append(finding)


def _facts(file: BinaryIO) -> Examined:
    """Facts of an open file; one whose bytes came with the request has only a size."""
    try:
        found = os.fstat(file.fileno())
    except OSError:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        return Examined(size=size)
    stat = (found.st_dev, found.st_ino, found.st_ctime_ns)
    return Examined(size=found.st_size, mtime_ns=found.st_mtime_ns, stat=stat)
