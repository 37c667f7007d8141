"""Layouts: each module here walks one kind of data set and yields what it finds."""

from dataclasses import dataclass

from sickbay.contract.finding import Finding


@dataclass(frozen=True, slots=True)
class Found:
    """A sample: its raw path, split and label (empty where there is none)."""

    raw: bytes
    split: str
    label: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is no sample, why, and a finding where it is worth one."""

    raw: bytes
    reason: str
    finding: Finding | None = None
