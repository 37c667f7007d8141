"""Where the files of some tasks are, and how the child that checks them gets at them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sickbay.scanner.task import Task


class Where(Protocol):
    """Where the files of some tasks are."""

    def request(self, tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Return what a request for these tasks says of it, and the bytes that travel along."""
        ...

    def reachable(self) -> bool:
        """Whether files can be read from this process."""
        ...


@dataclass(frozen=True, slots=True)
class Below:
    """Files below a folder that the child opens itself."""

    root: str

    def request(self, _tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Name the folder."""
        return {"root": os.fsencode(self.root).decode("latin-1")}, b""

    def reachable(self) -> bool:
        """Whether the folder is there."""
        return os.path.isdir(self.root)  # noqa: PTH112 (once a batch)


@dataclass(frozen=True, slots=True)
class Given:
    """Files whose bytes are here; the child needs no way to where they come from."""

    contents: Mapping[bytes, bytes]

    def request(self, tasks: Sequence[Task]) -> tuple[dict[str, Any], bytes]:
        """Send along the bytes that the tasks need."""
        wanted = dict.fromkeys(raw for task in tasks for raw in (task.raw, task.side) if raw)
        sent = [(raw, self.contents[raw]) for raw in wanted if raw in self.contents]
        names = [(raw.decode("latin-1"), len(data)) for raw, data in sent]
        return {"contents": names}, b"".join(data for _, data in sent)

    def reachable(self) -> bool:
        """They are here."""
        return True
