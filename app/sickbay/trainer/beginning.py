"""From the arguments of ``init`` to a run."""

import dataclasses
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sickbay.client.metadata import version
from sickbay.contract.errors import SickbayError
from sickbay.contract.event import MAX_FACTS, MAX_NAME, MAX_TITLE, About, Facts
from sickbay.contract.opening import Opening
from sickbay.trainer import complaints, launch
from sickbay.trainer.crashes import watch_for_crashes
from sickbay.trainer.environment import at_once, describe
from sickbay.trainer.plain import plain, text
from sickbay.trainer.reporter import Reporter, process_id
from sickbay.trainer.run import Run
from sickbay.trainer.seeds import known_seeds
from sickbay.trainer.surroundings import Mode, Surroundings, read
from sickbay.trainer.traced import witness


def begin(
    name: str | None,
    *,
    dataset: str | None,
    release: str | None,
    config: Any,
    root: str | os.PathLike[str] | None,
    resume: bool,
) -> Run:
    """Return a run that is being opened in the background, or one that does nothing."""
    place = read()
    if place.mode is Mode.DISABLED or _imported_by_a_worker():
        return Run(None)
    folder = _folder(root)
    data_set, digest = _trained_on(_text(dataset), _text(release), folder)
    opening = _opening(place, _text(name) or _script())
    opening = dataclasses.replace(
        opening,
        dataset=data_set,
        release=digest,
        resume=_truth(resume),
        config=plain(config, MAX_FACTS) if config is not None else {},
    )
    witness.forget()
    reporter = Reporter(place, opening, launch.count(opening.name))
    watch_for_crashes()

    def found(facts: Mapping[str, Any]) -> None:
        reporter.put(Facts(About.ENVIRONMENT, plain(facts, MAX_FACTS)))

    reporter.environment = describe(found, whole=place.rank.rank == 0)
    return Run(reporter, folder)


def _opening(place: Surroundings, name: str) -> Opening:
    return Opening(
        name=_printable(text(name, MAX_TITLE)) or "run",
        launch="",
        process=process_id(),
        rank=place.rank.rank,
        local_rank=place.rank.local_rank,
        world_size=place.rank.world_size,
        host=place.host,
        started=round(time.time(), 3),
        environment=plain(at_once(), MAX_FACTS),
        seeds=plain(known_seeds(), MAX_FACTS),  # torch's may need 64 bits without a sign
    )


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else " " for char in name).strip()


def _script() -> str:
    """Return a name for a run that was given none: its script's."""
    return Path(sys.argv[0]).stem if sys.argv and sys.argv[0] else "run"


def _text(value: Any) -> str | None:
    """Return what was given as text; what cannot be must not cost the run."""
    with suppress(Exception):
        return text(str(value), MAX_NAME) if value else None
    complaints.once("argument", "an argument of init makes no sense and is left out.")
    return None


def _truth(value: Any) -> bool:
    with suppress(Exception):
        return bool(value)
    return False


def _folder(path: Any) -> str | None:
    with suppress(TypeError):
        # Absolute at once: jobs change their folder later, and paths are compared with it.
        return os.path.abspath(os.fsdecode(path)) if path is not None else None  # noqa: PTH100
    complaints.once("root", "root is no path; paths of samples are sent whole.")
    return None


def _trained_on(
    dataset: str | None, release: str | None, folder: str | None
) -> tuple[str | None, str | None]:
    """Return what was said of the data; a release that was pulled says of itself what was not."""
    with suppress(OSError, ValueError, SickbayError):
        pulled = version(Path(folder)) if folder is not None and release is None else None
        if pulled is not None and dataset in {None, pulled.name}:
            return pulled.name, pulled.digest
    return dataset, release


def _imported_by_a_worker() -> bool:
    """Whether a started child is only importing the script to find its classes."""
    process: Any = sys.modules.get("multiprocessing.process")
    with suppress(Exception):
        if getattr(process.current_process(), "_inheriting", False):
            complaints.once("worker", "init in a child that only imports the script does nothing.")
            return True
        data: Any = sys.modules.get("torch.utils.data")
        return data is not None and data.get_worker_info() is not None
    return False
