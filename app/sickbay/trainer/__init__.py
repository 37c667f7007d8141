"""The kit for training scripts: three lines, and the run is live in the browser.

    import sickbay.trainer as sickbay

    run = sickbay.init("resnet", dataset="cells", config={"lr": 0.1})
    run.log({"train/loss": loss}, step=step)
    run.finish()

Nothing here raises into the training, blocks it, or grows without bound. The standard library
is all it needs; torch is used where the script has imported it.
"""

import os
from collections.abc import Mapping
from typing import Any

from sickbay.trainer.beginning import begin
from sickbay.trainer.blame import Blame
from sickbay.trainer.checkpoints import Checkpoints
from sickbay.trainer.complaints import harmless
from sickbay.trainer.inputs import BatchChecks
from sickbay.trainer.loop import steps
from sickbay.trainer.rate import RateAdvice
from sickbay.trainer.reporter import MOST_TO_FINISH
from sickbay.trainer.run import Run
from sickbay.trainer.seeds import seed_everything
from sickbay.trainer.traced import Traced, fetching, moved, samples_of
from sickbay.trainer.triage import TriageJob, triage
from sickbay.trainer.watch import AnomalyFound, Watch

__all__ = [
    "AnomalyFound",
    "BatchChecks",
    "Blame",
    "Checkpoints",
    "RateAdvice",
    "Run",
    "Traced",
    "TriageJob",
    "Watch",
    "alert",
    "failure",
    "fetching",
    "finish",
    "init",
    "log",
    "moved",
    "run",
    "samples_of",
    "seed_everything",
    "steps",
    "triage",
]

_current = Run(None)


def init(
    name: str | None = None,
    *,
    dataset: str | None = None,
    release: str | None = None,
    config: Any = None,
    root: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Run:
    """Begin a run, or join it: every rank calls this, and none waits for another.

    Returns at once; the server is spoken to in the background.

    Args:
        name: the run's name; the script's where it is not said.
        dataset: the data set's name; that of the root where a release was pulled to it.
        release: digest of the release that is trained on; else the root's own, likewise.
        config: a mapping, namespace or dataclass; settings named like secrets are hidden.
        root: the data set's root: paths of samples are sent relative to it.
        resume: whether this goes on from a checkpoint of an earlier attempt.
    """
    global _current  # noqa: PLW0603 (the current run is this module's one piece of state)
    _current = harmless(Run(None))(begin)(
        name, dataset=dataset, release=release, config=config, root=root, resume=resume
    )
    return _current


def run() -> Run:
    """Return the current run; before ``init``, one that does nothing."""
    return _current


def log(values: Mapping[str, Any], step: int | None = None, *, time: float | None = None) -> None:
    """Note points in the current run; see ``Run.log``."""
    _current.log(values, step, time=time)


def alert(title: str, text: str = "", level: str = "warn") -> None:
    """Send people a message from the current run; see ``Run.alert``."""
    _current.alert(title, text, level)


def failure(
    what: str | BaseException | None = None,
    *,
    exception: BaseException | None = None,
    **fields: Any,
) -> None:
    """Tell of something that went wrong in the current run; see ``Run.failure``."""
    _current.failure(what, exception=exception, **fields)


def finish(*, failed: bool = False, stopped: bool = False, timeout: float = MOST_TO_FINISH) -> None:
    """Leave the current run; see ``Run.finish``."""
    _current.finish(failed=failed, stopped=stopped, timeout=timeout)
