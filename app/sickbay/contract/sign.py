"""How a sign of trouble is written down: what an error says, and where that belongs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sickbay.contract.event import FailureKind


class Category(StrEnum):
    """The eleven kinds of trouble."""

    LOADING = "loading failed"
    DRIFT = "distribution drift"
    LEAKAGE = "leakage"
    SHAPE = "shape mismatch"
    INITIALISATION = "initialisation failed"
    CUT_OFF = "gradient cut off"
    GRADIENT = "gradient exploding or vanishing"
    MEMORY = "out of memory"
    RATE = "bad learning rate"
    CONVERSION = "conversion failed"
    PRECISION = "precision lost"


@dataclass(frozen=True, slots=True)
class Sign:
    """What an error says, and what it means; empty texts are the category's own."""

    category: Category
    kind: FailureKind
    pattern: re.Pattern[str]
    symptom: str = ""
    look: str = ""
    do: str = ""


DEFAULT_OF_KIND: Mapping[str, Category] = MappingProxyType(
    {
        FailureKind.LOADER_ERROR: Category.LOADING,
        FailureKind.WORKER_KILLED: Category.LOADING,
        FailureKind.NON_FINITE_INPUT: Category.LOADING,
        FailureKind.NON_FINITE_LABEL: Category.LOADING,
        FailureKind.NON_FINITE_LOSS: Category.GRADIENT,
        FailureKind.NON_FINITE_GRADIENT: Category.GRADIENT,
        FailureKind.LOSS_SPIKE: Category.GRADIENT,
        FailureKind.SHAPE_MISMATCH: Category.SHAPE,
        FailureKind.LABEL_ASSERT: Category.SHAPE,
        FailureKind.OUT_OF_MEMORY: Category.MEMORY,
    }
)


def says(*texts: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these in an error's text, in any case."""
    return re.compile("|".join(texts), re.IGNORECASE)
