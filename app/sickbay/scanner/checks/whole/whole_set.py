"""The whole set after the first pass: findings of each sample against it, and of itself."""

from collections.abc import Iterator

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole import drift, labels, shapes
from sickbay.scanner.checks.whole.alike import MOST_COMPARISONS
from sickbay.scanner.checks.whole.facts import SetFacts
from sickbay.scanner.checks.whole.first_pass import FirstPass
from sickbay.scanner.checks.whole.set_checks import SET_CHECKS, Sample


class WholeSet:
    """What the second pass asks. It takes the first pass over, which is empty afterwards.

    ``most`` bounds the comparisons of pictures with one another where very many look alike.
    """

    def __init__(self, first: FirstPass, policy: Policy, *, most: int = MOST_COMPARISONS) -> None:
        self._labels = first.counts.table()
        self._findings = tuple(_of_the_set(first, self._labels, policy.drift_threshold))
        self._facts = SetFacts(first, policy, most)

    def findings(self, sample: Sample) -> tuple[Finding, ...]:
        """What only the whole set tells of one sample, with the catalogue's severities."""
        return tuple(finding for check in SET_CHECKS for finding in check(sample, self._facts))

    def set_findings(self) -> tuple[Finding, ...]:
        """What is said of the set itself, with the catalogue's severities."""
        return self._findings

    def labels(self) -> dict[str, dict[str, int]]:
        """Counts by split and label; empty where there are too many labels to be classes."""
        return self._labels

    def close(self) -> None:
        """Give the space on disk back."""
        self._facts.names.close()


def _of_the_set(
    first: FirstPass, table: dict[str, dict[str, int]], threshold: float
) -> Iterator[Finding]:
    for finding in (labels.too_many(first.counts), shapes.mixed(first.shapes.usual())):
        if finding is not None:
            yield finding
    yield from labels.class_missing(table)
    yield from drift.label_drift(table, threshold)
    yield from drift.picture_drift(first, threshold)
