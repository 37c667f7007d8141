"""How an exception of a loader is told: from the main process at once, from a worker by its slot.

The exception goes on as it is. In a worker it leaves a record in shared memory, which the main
process fetches when the next batch arrives, when the exception is told, or when the run ends.
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import sickbay.trainer as kit
from sickbay.trainer.complaints import harmless
from sickbay.trainer.failing import raised
from sickbay.trainer.traced import arrivals, notes, place, witness
from sickbay.trainer.traced.notes import Note
from sickbay.trainer.traced.place import Place


def note_of(kind: str, paths: Sequence[str], index: Any, here: Place, epoch: int | None) -> Note:
    """Make the line that names what was being loaded."""
    seed = next(iter(place.seeds(here).values()))
    info = place.worker_info()
    worker = info.id if info is not None else None
    return Note(notes.new_ref(), kind, tuple(paths), whole(index), worker, epoch, seed)


def whole(index: Any) -> int | None:
    """Return an index as a number, where it is one."""
    try:
        return operator.index(index)
    except TypeError:
        return None


@harmless(None)
def tell(error: Exception, note: Note, here: Place, **more: Any) -> None:
    """Tell of an exception that is about to be raised again."""
    notes.put_on(error, note)
    if not here.remote:
        kit.run().failure(note.kind, exception=error, **note.fields(), **more)
    elif here.slot is not None:
        here.slot.tell(record_of(error, note, **more))


def record_of(error: Exception, note: Note, **more: Any) -> dict[str, Any]:
    """Return an exception as fields of a failure that can travel."""
    words = raised(error)
    return {
        "what": note.kind,
        "exception_type": words.type,
        "message": words.message[-1000:],
        "traceback": words.traceback[-2500:],
        **note.fields(),
        **more,
    }


@harmless(None)
def pass_on(*, hurried: bool = False) -> None:
    """Tell what workers have left."""
    for record in witness.records(hurried=hurried):
        pass_on_one(record)


def pass_on_one(record: Mapping[str, Any]) -> None:
    """Tell one record of a worker; ``Run.failure`` knows what was told already."""
    if kit.run().begun:
        kit.run().failure(**{str(name): value for name, value in record.items()})


arrivals.arrived.append(lambda _: pass_on(hurried=True))
witness.leaving.append(pass_on)
