"""What was changed in a run's course, and what taking it apart showed: parts of its events."""

from dataclasses import dataclass
from enum import StrEnum

MAX_STAGES = 100
"""Stages of one report."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was set otherwise while the run went on.

    ``what`` is such as ``learning-rate``; ``before`` and ``after`` are as a person reads them.
    """

    what: str
    before: str = ""
    after: str = ""
    why: str = ""
    step: int | None = None


class Passed(StrEnum):
    """How a stage, or a whole report, came out."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a report: what was tried, how it came out, and what was seen."""

    name: str
    outcome: Passed
    message: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What taking a job apart showed; ``layer`` and ``category`` are the taxonomy's words."""

    title: str
    outcome: Passed
    stages: tuple[Stage, ...] = ()
    layer: str = ""
    category: str = ""
    advice: str = ""
