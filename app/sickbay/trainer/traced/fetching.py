"""A data set's items, fetched under watch: shared by both kinds of data set."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from sickbay.contract.errors import BadInput
from sickbay.contract.event import FailureKind
from sickbay.trainer.traced import names, place, telling
from sickbay.trainer.traced.board import Board
from sickbay.trainer.traced.names import Names, Paths
from sickbay.trainer.traced.noted import noted
from sickbay.trainer.traced.notes import Note
from sickbay.trainer.traced.place import Place
from sickbay.trainer.traced.skipping import Balance, Skipped


class Fetching:
    """Watches what one data set fetches, in whichever process."""

    def __init__(self, dataset: Any, paths: Paths, on_bad: str) -> None:
        if on_bad not in ("raise", "skip"):
            raise BadInput("on_bad is one of 'raise' and 'skip'.")
        self.names = Names(dataset, paths)
        self.balance = Balance(dataset)
        self.skip = on_bad == "skip"
        self._board = Board()
        self._place: Place | None = place.found(self._board)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_place": None}

    def here(self) -> Place:
        """Return where this process stands.

        A process that is no worker and was given the data set by another one, as a rank by its
        launcher, begins a board of its own for its workers.
        """
        at = self._place
        if at is None or at.pid != os.getpid():
            if not place.remote():
                self._board = Board()
            at = self._place = place.found(self._board)
        return at

    def begin(self, index: Any, path: str) -> None:
        """Note which item is fetched now."""
        at = self.here()
        here = noted()
        here.said, here.slot = None, at.slot
        if at.slot is not None:
            at.slot.fetching(index if type(index) is int else -1, path)

    def got(self, item: Any, path: str, index: Any) -> None:
        """Note an item that was fetched."""
        here = noted()
        if path.startswith("index:"):
            path = here.said or self.names.said_by(item) or path
        here.items.append((id(item), path, index))
        if here.slot is not None:
            here.slot.idle()

    def path_of(self, index: Any) -> str:
        """Return the path of an item by its index, or as the item itself said when it was fetched.

        Of an iterable data set, the index is a count.
        """
        last = noted().items[-1] if noted().items else None
        if last is not None and last[2] == index:
            return last[1]
        return self.names.of(index)

    def idle(self) -> None:
        """Note that nothing is fetched."""
        at = self._place
        if at is not None and at.slot is not None:
            at.slot.idle()

    def collating(self, paths: Sequence[str]) -> None:
        """Note that a batch is put together."""
        at = self.here()
        if at.slot is not None:
            at.slot.collating(paths)

    def set_epoch(self, epoch: int) -> None:
        """Say the epoch to all workers."""
        self._board.set_epoch(epoch)

    def epoch(self) -> int | None:
        """Return the epoch, where it is known."""
        info = place.worker_info()
        return self._board.epoch(None if info is None else info.seed - info.id)

    def bad(self, error: Exception, path: str, index: Any, **more: Any) -> Skipped:
        """Deal with an item that could not be fetched.

        Raises:
            Exception: the policy is to raise; the same one.
        """
        self.idle()
        if self.names.vague(path):
            path = noted().said or names.in_error(error) or path
        note = self.note(FailureKind.LOADER_ERROR, [path], index)
        if not self.skip:
            self.stop(error, note, **more)
        return self.left_out(error, note, path, index, **more)

    def left_out(self, error: Exception, note: Note, path: str, index: Any, **more: Any) -> Skipped:
        """Return what stands for a sample that is skipped."""
        facts = self.balance.of(index, path)
        return Skipped({**telling.record_of(error, note, **more), **facts}, error)

    def stop(self, error: Exception, note: Note, **more: Any) -> NoReturn:
        """Tell of an exception and raise it again."""
        telling.tell(error, note, self.here(), **more)
        raise error

    def note(self, kind: str, paths: Iterable[str], index: Any = None) -> Note:
        """Make the line that names what was being loaded."""
        return telling.note_of(kind, list(paths), index, self.here(), self.epoch())


def fetching(path: Any) -> None:
    """Say, from inside of a data set, which file is read now.

    For data sets whose items have no path by their index, such as iterable ones: an exception
    names this file then, and so does a worker that is killed or hangs.
    """
    here = noted()
    here.said = os.fsdecode(path)
    if here.slot is not None:
        here.slot.fetching(-1, here.said)
