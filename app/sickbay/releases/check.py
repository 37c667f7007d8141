"""What changed on disk since the scan: a release never lists a hash that is no longer true."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sickbay.contract import digest
from sickbay.contract.errors import BadInput, Refused, SickbayError
from sickbay.contract.inside import Inside, Missing
from sickbay.releases.contents import Item

NAMED = 20
"""Files that a refusal names; it always says how many there are."""


class DiskCheck:
    """Compares files below the root with what the scan recorded of them."""

    def __init__(self, folder: Inside) -> None:
        self._folder = folder
        self._named: list[str] = []
        self._wrong = 0

    def look(self, item: Item) -> None:
        """Note the sample's file if it is not the one that was scanned.

        Size, times, device and inode as recorded are taken as proof; where any differs, the
        content is hashed.
        """
        try:
            handle = self._folder.open(item.raw_path)
        except Missing:
            self._note(item, "missing")
            return
        except SickbayError:
            self._note(item, "cannot be read")
            return
        try:
            if not _unchanged(handle, item):
                self._note(item, "changed")
        except OSError:
            self._note(item, "cannot be read")
        finally:
            os.close(handle)

    def refuse_changes(self) -> None:
        """Refuse to go on if any file was not the one that was scanned.

        Raises:
            Refused: names up to 20 of them, and says how many there are.
        """
        if self._wrong:
            more = f" and {self._wrong - NAMED:,} more" if self._wrong > NAMED else ""
            raise Refused(
                f"Files that changed since the scan: {self._wrong:,} "
                f"({'; '.join(self._named)}{more}). No release was made: scan again."
            )

    def _note(self, item: Item, what: str) -> None:
        self._wrong += 1
        if len(self._named) < NAMED:
            self._named.append(f"{item.path!r} {what}")


@contextmanager
def disk_check(recorded: str | None, given: Path | None) -> Iterator[DiskCheck | None]:
    """Give a check of the data set's files, or none where this machine does not have them.

    Raises:
        BadInput: the folder given is not there.
        Refused: the folder recorded by the scan is not there.
    """
    root = given if given is not None else recorded
    if root is None:
        yield None
        return
    if not Path(root).is_dir():
        if given is not None:
            raise BadInput(f"There is no folder {str(root)!r}; check --root.")
        raise Refused(
            f"The folder that was scanned, {str(root)!r}, is not there. "
            "Mount it, or say with --root where it is now."
        )
    with Inside(root) as folder:
        yield DiskCheck(folder)


def _unchanged(handle: int, item: Item) -> bool:
    now = os.fstat(handle)
    if now.st_size != item.size:
        return False
    if (
        now.st_mtime_ns == item.mtime_ns
        and f"{now.st_dev}:{now.st_ino}:{now.st_ctime_ns}" == item.stat
    ):
        return True
    return digest.of_handle(handle, now.st_size) == item.sha256
