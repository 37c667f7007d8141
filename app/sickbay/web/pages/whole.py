"""What the overview says of a data set as a whole: how it was scanned, and what the set lacks."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from sickbay.contract.finding import Depth
from sickbay.quarantine import policies, scan_facts
from sickbay.quarantine.scan_facts import SetFinding
from sickbay.web.pages.policy.views import said

_CLASSES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """One class and how many samples (or objects) each split has of it."""

    label: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """How the scan in force was made, and what it says of the set."""

    structure_only: bool
    not_decoded: int
    file_findings: int
    findings: tuple[SetFinding, ...]
    policy: tuple[str, ...]
    """What of the scan's policy is not as by default."""
    policy_changed: bool
    """Whether the data set's own policy, which the next scan uses, is not as by default."""
    outdated: bool
    splits: tuple[str, ...]
    classes: tuple[ClassCounts, ...]
    more_classes: int


def whole(session: Session, data_set_id: int, *, every_class: bool) -> Whole | None:
    """Read what there is to say, or nothing before the first scan."""
    facts = scan_facts.facts(session, data_set_id)
    if facts is None:
        return None
    splits, classes = _by_split(facts.labels)
    shown = len(classes) if every_class else _CLASSES_SHOWN
    return Whole(
        structure_only=facts.depth is Depth.STRUCTURE,
        not_decoded=facts.not_decoded,
        file_findings=facts.file_findings,
        findings=facts.findings,
        policy=said(facts.policy) if facts.policy else (),
        policy_changed=bool(policies.read(session, data_set_id).differences),
        outdated=facts.outdated,
        splits=splits,
        classes=classes[:shown],
        more_classes=max(len(classes) - shown, 0),
    )


_ORDER = ("train", "val", "test")


def _by_split(
    labels: Mapping[str, Mapping[str, int]],
) -> tuple[tuple[str, ...], tuple[ClassCounts, ...]]:
    """Return the splits and, where there are several, the classes, those with most first."""
    splits = tuple(sorted(labels, key=lambda name: (_rank(name), name)))
    if len(splits) < 2:  # noqa: PLR2004 (nothing to compare)
        return splits, ()
    names = {name for counts in labels.values() for name in counts}
    rows = [
        ClassCounts(name, tuple(labels[split].get(name, 0) for split in splits)) for name in names
    ]
    return splits, tuple(sorted(rows, key=lambda row: (-sum(row.counts), row.label)))


def _rank(split: str) -> int:
    return _ORDER.index(split) if split in _ORDER else len(_ORDER)
