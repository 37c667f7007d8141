"""The process that goes through a job's data: prints what it is at and what it finds.

One JSON object a line: ``at`` before each sample, ``sig`` and ``fits`` behind it, ``found`` for
what is wrong, ``said`` for what a person should know, ``done`` at the end of a pass.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.event import FailureKind
from sickbay.trainer.inputs import BatchChecks
from sickbay.trainer.loading.job import Job, job_of
from sickbay.trainer.shapes import signature
from sickbay.trainer.to_parent import Say, standard_output
from sickbay.trainer.traced import notes, samples_of, witness

_MOST_SHAPES = 200
"""Kinds of samples that are tried with the first one; with more, sizes are simply free."""
_MOST_STARTS = 20
"""Exceptions with workers, behind which they are started once more."""


def one_by_one(job: Job, say: Say, start: int, num_classes: int | None) -> None:
    """Fetch each sample in this process, check its tensors, and try it with the first one."""
    first: list[Any] = []
    tried: set[str] = set()
    for index, path, item in _samples(job, say, start):
        try:
            batch = job.batch([item])
        except Exception as error:  # noqa: BLE001 (whatever the job's own code raises)
            say(_raised(error, path, "it cannot be put into a batch"))
            continue
        checks = BatchChecks(num_classes, fixed_sizes=False)
        for found in checks.look(batch, samples=[path]):
            say({"found": found.kind, "path": path, "message": found.message})
        kind = " ".join(signature(item))
        if kind not in tried and len(tried) < _MOST_SHAPES and job.batch_size is not None:
            tried.add(kind)
            first = first or [item]
            say({"fits": _fits(job, [first[0], item]), "kind": kind})
        say({"n": index, "path": path, "kind": kind})


def _samples(job: Job, say: Say, start: int) -> Iterator[tuple[int, str, Any]]:
    """Fetch the samples one after the other, and tell of those that cannot be."""
    stream = None if job.indexed else job.stream()
    index = start
    while stream is not None or index < len(job.data):
        path = job.data.path_of(index)
        say({"at": index, "path": path})
        try:
            item = job.data[index] if stream is None else next(stream)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 (whatever the job's own code raises)
            say(_raised(error, path))
            if stream is not None:
                say({"said": f"The data set is an iterable; it is not known what follows {path}."})
                return
        else:
            yield index, job.data.path_of(index), item
        index += 1


def _fits(job: Job, items: list[Any]) -> bool:
    try:
        job.batch(items)
    except Exception:  # noqa: BLE001 (whatever the job's own code raises)
        return False
    return True


def with_workers(job: Job, say: Say, workers: int, timeout: float, bad: frozenset[int]) -> None:
    """Fetch all batches by workers, but for the samples that are known to be bad."""
    batches = _batches(job, bad) if job.indexed else None
    done = 0
    for _ in range(_MOST_STARTS):
        left = None if batches is None else batches[done:]
        loader = job.loader(workers, timeout, left)
        count = 0
        try:
            for batch in loader:
                count += 1
                say({"batch": done + count, "samples": len(samples_of(batch))})
        except Exception as error:  # noqa: BLE001 (whatever the job's own code raises)
            blamed = _blamed(error, say)
            done += count
            if batches is None or (not count and not blamed):
                say({"said": f"With {workers} workers it stops: {_words(error)}"})
                return
            done += not blamed
            left = [[one for one in batch if one not in blamed] for batch in batches[done:]]
            batches[done:] = [batch for batch in left if batch]
            continue
        return
    say({"said": f"With {workers} workers it went on failing; {done} batches were fetched."})


def _batches(job: Job, bad: frozenset[int]) -> list[list[int]]:
    sound = [index for index in range(len(job.data)) if index not in bad]
    size = job.batch_size or 1
    return [sound[start : start + size] for start in range(0, len(sound), size)]


def _blamed(error: Exception, say: Say) -> set[int]:
    """Tell of the samples that an exception of the loader names; return their indexes."""
    known = witness.known_of(error)
    kind = known.get("what", FailureKind.LOADER_ERROR)
    found = [one if isinstance(one, dict) else {"path": one} for one in known.get("samples", ())]
    for one in found:
        words = f"in a worker: {known.get('exception_type', '')} {_words(error)}"
        say({"found": str(kind), "path": one["path"], "message": words, "workers": True})
    return {one["index"] for one in found if isinstance(one.get("index"), int)}


def _raised(error: Exception, path: str, words: str = "") -> dict[str, Any]:
    note = notes.on(error)
    named = note.paths[0] if note is not None and note.paths else path
    kind = type(error).__name__
    message = f"{words + ': ' if words else ''}{kind}: {_words(error)}"
    return {"found": str(FailureKind.LOADER_ERROR), "path": named, "message": message, "type": kind}


def _words(error: Exception) -> str:
    try:
        lines = notes.without(str(error)).strip().splitlines()
    except Exception:  # noqa: BLE001 (a broken exception is one still)
        return "(this exception cannot be shown as text)"
    return lines[-1][:300] if lines else ""


def main() -> None:
    """Go through the data that the arguments name."""
    say = standard_output()
    asked = json.loads(sys.argv[1])
    try:
        job = job_of(asked["spec"])
        say({"total": len(job.data) if job.indexed else None, "indexed": job.indexed})
        workers = asked["workers"] if asked["workers"] is not None else job.workers or 2
        if asked["pass"] == 1:
            one_by_one(job, say, asked["start"], asked["classes"])
        elif workers:
            with_workers(job, say, workers, asked["timeout"], frozenset(asked["bad"]))
    except BadInput as error:
        say({"refused": error.sentence})
    except Exception as error:  # noqa: BLE001 (whatever the job's own code raises)
        say({"refused": f"--loader {asked['spec']} raised {type(error).__name__}: {_words(error)}"})
    else:
        say({"done": True})


if __name__ == "__main__":
    main()
