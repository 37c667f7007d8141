"""How a process opens its run, and what the server answers.

A run is known by its name, an attempt by its launch; every rank of a launch opens for itself
and gets the same attempt. ``process`` is drawn anew by every process: a launch id that turns out
not to be unique (two programs in one SLURM job) must not mix two processes of one rank.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.event import MAX_FACTS, MAX_NAME, MAX_TITLE
from sickbay.contract.fields import Fields

MAX_PROCESS = 64
MAX_URL = 2048


@dataclass(frozen=True, slots=True)
class Opening:
    """What a process says of itself when it opens its run.

    Attributes:
        name: the run's.
        launch: the same for all ranks that were started together.
        process: drawn by this process.
        release: digest of the release it trains on.
        resume: whether it goes on from a checkpoint of an earlier attempt.
        started: the trainer's clock, seconds since 1970.
    """

    name: str
    launch: str
    process: str
    rank: int = 0
    local_rank: int = 0
    world_size: int = 1
    host: str = ""
    started: float = 0.0
    dataset: str | None = None
    release: str | None = None
    resume: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def opening_from_json(value: Any) -> Opening:
    """Read an opening.

    Raises:
        BadInput: it is none; the sentence says what is wrong, not what it held.
    """
    found = Fields(value, "The opening")
    opening = Opening(
        name=_name(found, "name"),
        launch=_name(found, "launch"),
        process=_name(found, "process"),
        rank=found.whole("rank"),
        local_rank=found.whole("local_rank"),
        world_size=found.whole("world_size", 1),
        host=found.text("host", MAX_NAME, ""),
        started=found.finite("started"),
        dataset=found.text_or_nothing("dataset", MAX_NAME),
        release=found.text_or_nothing("release", MAX_NAME),
        resume=found.truth("resume"),
        config=found.mapping("config", MAX_FACTS),
        environment=found.mapping("environment", MAX_FACTS),
        seeds=found.mapping("seeds", MAX_FACTS),
    )
    found.end()
    return opening


def _name(found: Fields, field_name: str) -> str:
    text = found.text(field_name, MAX_TITLE)
    if not text.strip() or not text.isprintable():
        raise BadInput(f"{field_name} is empty or holds a control character.")
    return text


@dataclass(frozen=True, slots=True)
class Opened:
    """The server's answer: the run, the attempt's number, and the run's page."""

    run: str
    attempt: int
    url: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"run": self.run, "attempt": self.attempt, "url": self.url}


def opened_from_json(value: Any) -> Opened:
    """Read the answer to an opening.

    Raises:
        BadInput: it is none; something else than Sickbay answers there.
    """
    found = Fields(value, "The answer")
    return Opened(_name(found, "run"), found.whole("attempt", 1), found.text("url", MAX_URL, ""))
