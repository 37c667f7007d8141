"""Which samples a step used, and which of them are to blame: parts of a run's events."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

MAX_STEPS = 1000
"""Steps in one event of batches."""
MAX_USED = 10_000
"""Samples in one event of batches, each counted as often as it was used."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a batch: its path below the data set's root, and what is known."""

    path: str
    path_bytes: str | None = None
    index: int | None = None
    sha256: str | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class Batches:
    """Which samples some steps used, in columns.

    Attributes:
        steps: int64, one a step.
        counts: how many samples each step used; they follow one another in ``samples``.
        samples: places in ``paths``.
        paths: each path once.
        losses: float64, one a sample, NaN where unknown; empty where none is known.
    """

    steps: "array[int]"
    counts: "array[int]"
    samples: "array[int]"
    paths: tuple[Sample, ...]
    losses: "array[float]" = field(default_factory=lambda: array("d"))


class Outcome(StrEnum):
    """What repeating a bad step showed."""

    REPRODUCED_ALONE = "reproduced-alone"
    """The named samples do it in a fresh state too: it is the data."""
    ONLY_IN_THIS_STATE = "only-in-this-state"
    """They do it with these weights and this optimizer only."""
    NOT_REPRODUCED = "not-reproduced"
    """The same batch in the same state was fine: it came from elsewhere."""
    DIFFERS_ON_REPEAT = "differs-on-repeat"
    """The same input gave other results: nondeterminism, or the hardware."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether samples are the cause of a failure.

    Attributes:
        failure: the failure's ``ref``.
        outcome: what repeating it showed.
        samples: the most blamed first, with the losses they had alone where those are known.
        forwards: how many forward passes that took.
        detail: how it was found, and what was measured.
    """

    failure: str
    outcome: Outcome
    samples: tuple[Sample, ...] = ()
    forwards: int = 0
    detail: Mapping[str, Any] = field(default_factory=dict)
