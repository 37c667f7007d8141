"""A failure made ready to be stored: fingerprint, samples, its place in the chain of causes."""

from dataclasses import dataclass
from datetime import datetime

from sickbay.contract.blame import Sample
from sickbay.contract.event import Event, Failure
from sickbay.contract.paths import SamplePath, from_record
from sickbay.runs.failures.causes import is_secondary
from sickbay.runs.failures.fingerprint import fingerprint


@dataclass(frozen=True, slots=True)
class ReadyFailure:
    """What the database stores of a failure."""

    event: Event
    body: Failure
    received_at: datetime
    line: bytes
    fingerprint: str
    secondary: bool
    paths: tuple[SamplePath, ...]


def ready(event: Event, body: Failure, line: bytes, received_at: datetime) -> ReadyFailure:
    """Return a failure with all that can be worked out without the database."""
    return ReadyFailure(
        event,
        body,
        received_at,
        line,
        fingerprint(body),
        is_secondary(body),
        tuple(dict.fromkeys(map(_path, body.samples))),
    )


def _path(sample: Sample) -> SamplePath:
    return from_record(sample.path, sample.path_bytes)
