"""Where the files of some tasks are, and how the child that checks them gets at them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from sickbay.contract.finding import Finding
from sickbay.scanner import wire
from sickbay.scanner.task import Task


class Where(Protocol):
    """Files of some tasks, as the child that checks them gets at them."""

    def request(self, tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Return what a request for these tasks says of it, and the bytes that travel along."""
        ...


class Place(Protocol):
    """Where the files of a data set are, from wherever they are checked."""

    def at_hand(self, tasks: Sequence[Task]) -> Iterator[tuple[Where, Sequence[Task]]]:
        """Bring the files of some tasks at a time to this machine."""
        ...

    def reachable(self) -> bool:
        """Whether files can be read from this process at all."""
        ...


@dataclass(frozen=True, slots=True)
class Below:
    """Files below a folder that the child opens itself."""

    root: str

    def request(self, _tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Name the folder."""
        return {"root": os.fsencode(self.root).decode("latin-1")}, b""

    def at_hand(self, tasks: Sequence[Task]) -> Iterator[tuple[Where, Sequence[Task]]]:
        """They are."""
        yield self, tasks

    def reachable(self) -> bool:
        """Whether the folder is there."""
        return os.path.isdir(self.root)  # noqa: PTH112 (once a batch)


@dataclass(frozen=True, slots=True)
class Given:
    """Files whose bytes are here; the child needs no way to where they come from.

    Attributes:
        contents: bytes by raw path; what is not there is missing.
        faults: why some could not be brought here.
    """

    contents: Mapping[bytes, bytes]
    faults: Mapping[bytes, Finding] = field(default_factory=dict)

    def request(self, tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Send along the bytes that the tasks need."""
        wanted = needed(tasks)
        sent = [(raw, self.contents[raw]) for raw in wanted if raw in self.contents]
        names = [(raw.decode("latin-1"), len(data)) for raw, data in sent]
        faults = [
            (raw.decode("latin-1"), wire.from_findings([self.faults[raw]]))
            for raw in wanted
            if raw in self.faults
        ]
        return {"contents": names, "faults": faults}, b"".join(data for _, data in sent)


def needed(tasks: Sequence[Task]) -> list[bytes]:
    """Return the files that tasks need, each once."""
    wanted = (raw for task in tasks for raw in (task.raw, task.side, *task.also) if raw)
    return list(dict.fromkeys(wanted))
