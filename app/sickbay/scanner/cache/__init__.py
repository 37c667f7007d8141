"""What earlier scans found, so that the next reads only what changed.

One folder a data set, layout and root, below the user's own folder of caches. ``scan`` holds all
samples of the last whole scan in the order of the walk, ``part-…`` what was checked by scans that
ended early. A walk and these files are merged, so that memory stays constant. What a sample gave
is used again where nothing that decides it changed: the keys of its files (device, inode, size,
mtime and ctime), its task, the whole setup and the versions of everything that looks into it.

A file written to within two seconds before the walk began, or later, is not believed the next
time: another write within the same tick of the file system's clock would not show. What depended
on a moment (a decoder's death, a file that could not be read or changed meanwhile) is never
used again. Damage costs reading again and nothing else.
"""

import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sickbay.contract.errors import BadInput
from sickbay.scanner.cache.earlier import SETTLED, Earlier
from sickbay.scanner.cache.keeping import Counts

__all__ = ["SETTLED", "Cache", "Counts", "Earlier", "usual_folder"]


def usual_folder() -> Path:
    """Return where caches of scans lie where nobody says otherwise."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    above = Path(base) if base.startswith("/") else Path("~/.cache").expanduser()
    return above / "sickbay" / "scans"


class Cache:
    """A folder of caches, for its owner alone.

    Args:
        folder: made where it is missing.
        verify: read everything again and say where content changed under the same keys.
        clock: the time in ns, by which what changed a moment ago is not believed.
    """

    def __init__(
        self, folder: Path, *, verify: bool = False, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self.folder = folder
        self.counts = Counts()
        self._verify = verify
        self._clock = clock

    @contextmanager
    def of(self, root: str, layout: str, dataset: str) -> Iterator[Earlier | None]:
        """Open what is kept of one data set; nothing where another scan has it open.

        Raises:
            BadInput: the folder is another user's, open to others, or below the root.
        """
        self._refuse_folder(root)
        named = json.dumps([root, layout, dataset]).encode("ascii")
        folder = self.folder / hashlib.sha256(named).hexdigest()[:32]
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self.counts.trouble = f"{str(folder)!r} cannot be written: {error.strerror}"
            yield None
            return
        earlier = self._locked(lock, folder)
        try:
            yield earlier
        finally:
            if earlier is not None:
                earlier.close()
            os.close(lock)

    def _locked(self, lock: int, folder: Path) -> Earlier | None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.counts.trouble = "another scan of this data set is using it"
            return None
        return Earlier(folder, self.counts, began=self._clock(), verify=self._verify)

    def _refuse_folder(self, root: str) -> None:
        if self.folder.resolve().is_relative_to(Path(root)):
            raise BadInput(
                f"The cache {str(self.folder)!r} lies in the data set's root, which is never "
                "written to; give another with --cache, or --no-cache."
            )
        try:
            found = self.folder.stat()
        except OSError:
            return  # it is made, or what is wrong with it is said, when it is needed
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise BadInput(
                f"The cache {str(self.folder)!r} is another user's or others may write to it; give "
                "another with --cache, or --no-cache."
            )
