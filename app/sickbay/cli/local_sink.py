"""A scan's records on their way into this machine's own state.

The same verbs as over HTTP, without the wire: batches, then an end that puts them in force.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from sickbay.blobs import Blobs
from sickbay.contract.batch import FULL_BATCH, content_digest, ends_batch
from sickbay.contract.errors import NotFound, SickbayError
from sickbay.contract.finding import FileRecord, SampleRecord, ScanRecord, SummaryRecord, to_line
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.quarantine import data_sets, intake, policies
from sickbay.quarantine.batches import stats_of


class LocalSink:
    """Puts one scan into the local state.

    Args:
        database: the state's database.
        blobs: where thumbnails go.
        root: the folder scanned; the server may show and release its files from there. Nothing
            where it is no folder of this machine.
        by: who scans.
        dataset: the name, checked before any file is read.
    """

    def __init__(
        self, database: Database, blobs: Blobs, *, root: Path | None, by: str, dataset: str
    ) -> None:
        data_sets.check_name(dataset)
        self._database = database
        self._blobs = blobs
        self._root = None if root is None else str(root)
        self._by = by
        self._dataset = dataset
        self._key = ""
        self._number = 0
        self._known: frozenset[str] = frozenset()
        self._clear()

    def stored_policy(self) -> Policy:
        """Return the data set's own policy; the defaults where it is new."""
        with self._database.reading() as session, suppress(NotFound):
            found = data_sets.find(session, self._dataset)
            return policies.read(session, found.id).policy
        return Policy()

    def header(self, record: ScanRecord) -> None:
        """Begin."""
        ticket = self._database.writing(
            lambda session: intake.begin(session, record, self._by, root=self._root)
        )
        self._key = ticket.key
        self._known = frozenset(ticket.known)

    def sample(
        self, record: SampleRecord, thumbnail: bytes | None, stat: tuple[int, int, int] | None
    ) -> None:
        """Take one sample, its thumbnail, and what tells whether its file changed since."""
        self.line(record.path, to_line(record), thumbnail, stat)

    def line(
        self,
        path: SamplePath,
        line: bytes,
        thumbnail: bytes | None,
        stat: tuple[int, int, int] | None,
    ) -> None:
        """Take one record as it is written."""
        beside = {}
        if thumbnail is not None:
            beside["thumbnail"] = self._blobs.put(thumbnail)
        if stat is not None:
            beside["stat"] = ":".join(map(str, stat))
        self._take(path, line, beside)

    def file(self, record: FileRecord) -> None:
        """Take a file that is no sample and has findings of its own."""
        self._take(record.path, to_line(record), {})

    def finish(self, record: SummaryRecord) -> None:
        """Store what is left, then put the scan in force."""
        self._send()
        self._database.writing(lambda session: intake.finish(session, self._key, record))

    def abort(self) -> None:
        """Drop what was stored; the results before stay in force."""
        if self._key:
            with suppress(SickbayError):
                self._database.writing(lambda session: intake.abandon(session, self._key))

    def _take(self, path: SamplePath, line: bytes, beside: dict[str, str]) -> None:
        self._lines.append(line)
        self._size += len(line)
        if beside:
            self._extras[path.raw.hex()] = beside
        if self._size > FULL_BATCH or ends_batch(path.raw):
            self._send()

    def _send(self) -> None:
        if self._lines:
            content = content_digest(self._lines, stats_of(self._extras))
            if content not in self._known or not self._repeated(content):
                self._received()
            self._number += 1
            self._clear()

    def _repeated(self, content: str) -> bool:
        """Say in short what the scan in force said too, if it still is the one in force."""
        key, number = self._key, self._number
        try:
            self._database.writing(lambda session: intake.repeat(session, key, number, content))
        except NotFound:
            return False
        return True

    def _received(self) -> None:
        key, number = self._key, self._number
        digest = hashlib.sha256(b"".join(self._lines)).hexdigest()
        batch = intake.check(self._lines, self._extras, digest)
        self._database.writing(lambda session: intake.receive(session, key, number, batch))

    def _clear(self) -> None:
        self._lines: list[bytes] = []
        self._extras: dict[str, dict[str, str]] = {}
        self._size = 0
