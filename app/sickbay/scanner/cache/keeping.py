"""Writing what the next scan may use: while this one checks, and once it is whole.

Trouble with these files is never the scan's: it is told once, and nothing more is kept.
"""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sickbay.contract.finding import ScanRecord, SummaryRecord, to_line
from sickbay.scanner.cache.blocks import Blocks, write_new
from sickbay.scanner.cache.kept import BEGINS, ENDS, FILE, NOTHING, Kept

WHOLE, PART, SAME = "scan", "part-", "same"
"""Files of a cache: the last whole scan, those that ended early, and what the whole one saw."""


@dataclass(slots=True)
class Counts:
    """What a scan had from its cache.

    Attributes:
        read: samples that were read.
        reused: samples that were not, because nothing changed.
        gone: samples of the last whole scan that are there no more.
        trouble: why nothing is kept for the next scan, where that is so.
    """

    read: int = 0
    reused: int = 0
    gone: int = 0
    trouble: str = ""


class Keeper:
    """Files of one scan, made when first needed."""

    def __init__(self, folder: Path, began: int, counts: Counts) -> None:
        self._folder = folder
        self._counts = counts
        self._part_path = folder / f"{PART}{began:020d}-{secrets.token_hex(4)}"
        self._part: Blocks | None = None
        self._whole: Blocks | None = None
        self._all_reusable = True

    def found(self, one: Kept) -> None:
        """Keep a sample that was just checked."""
        self._try(lambda: self._opened().add(one.pack()))

    def _opened(self) -> Blocks:
        if self._part is None:
            self._part = Blocks(self._part_path)
        return self._part

    def flush(self) -> None:
        """Bring what was found to the disk."""
        if self._part is not None:
            self._try(self._part.flush)

    def header(self, record: ScanRecord) -> None:
        """Begin the records of the whole scan."""
        self._try(self._begin_whole)
        self._write(Kept(BEGINS, line=to_line(record)))

    def _begin_whole(self) -> None:
        path = self._folder / f"{WHOLE}.new"
        path.unlink(missing_ok=True)
        self._whole = Blocks(path)

    def sample(self, one: Kept) -> None:
        """Keep a sample with its record."""
        self._all_reusable &= one.signature != NOTHING
        self._write(one)

    def file(self, raw: bytes, line: bytes, *, reusable: bool) -> None:
        """Keep the record of a file with findings of its own."""
        self._all_reusable &= reusable
        self._write(Kept(FILE, raw, line=line))

    def _write(self, one: Kept) -> None:
        if self._whole is not None:
            whole = self._whole
            self._try(lambda: whole.add(one.pack()))

    def passing(self) -> None:
        """Say that something was met which may be otherwise the next time."""
        self._all_reusable = False

    def finish(self, record: SummaryRecord, same: bytes | None) -> None:
        """Put the whole scan in place of all that was kept before it.

        Args:
            record: the summary.
            same: digest of the tree and of how it was scanned, where the whole may be used again.
        """
        self._write(Kept(ENDS, line=to_line(record)))
        if self._whole is not None:
            whole = self._whole
            self._try(lambda: self._replace(whole, same if self._all_reusable else None))

    def _replace(self, whole: Blocks, same: bytes | None) -> None:
        whole.flush()
        (self._folder / SAME).unlink(missing_ok=True)
        whole.path.replace(self._folder / WHOLE)
        if same is not None:
            write_new(self._folder / SAME, same + whole.checksum())
        for part in self._folder.glob(f"{PART}*"):
            part.unlink(missing_ok=True)

    def _try(self, act: Callable[[], None]) -> None:
        if not self._counts.trouble:
            try:
                act()
            except OSError as error:
                self._counts.trouble = f"{str(self._folder)!r} cannot be written: {error.strerror}"

    def close(self) -> None:
        """Keep what was found so far, and give back what is of no use."""
        self.flush()
        for one in (self._part, self._whole):
            if one is not None:
                one.close()
        if self._whole is not None:
            with suppress(OSError):  # gone into its place, or of no use
                self._whole.path.unlink()
