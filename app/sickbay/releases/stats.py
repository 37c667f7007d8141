"""Class balance before and after, as whole numbers: floats have no canonical form."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sickbay.quarantine.tables import Status
from sickbay.releases.counts import Counts, of_statuses

MILLION = 1_000_000


@dataclass(slots=True)
class Statistics:
    """Counts the samples that go by, per split and class."""

    bytes_before: int = 0
    bytes_after: int = 0
    _statuses: dict[tuple[str, str], dict[Status, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )

    def add(self, split: str, label: str, status: Status, before: int, after: int) -> None:
        """Count one sample; sizes in bytes, 0 where unknown or left out."""
        self._statuses[split, label][status] += 1
        self.bytes_before += before
        self.bytes_after += after

    def counts(self) -> Counts:
        """Return the totals."""
        totals: dict[Status, int] = defaultdict(int)
        for by_status in self._statuses.values():
            for status, number in by_status.items():
                totals[status] += number
        return of_statuses(totals, self.bytes_after)

    def document(self, labels: Mapping[str, int]) -> dict[str, Any]:
        """Return the content of ``stats.json``."""
        groups = {key: of_statuses(found) for key, found in sorted(self._statuses.items())}
        splits = sorted({split for split, _ in groups})
        return {
            "bytes": {"after": self.bytes_after, "before": self.bytes_before},
            "samples": _numbers(self.counts()),
            "balance": _balance(groups),
            "splits": [
                {
                    "split": split,
                    "balance": _balance({key: groups[key] for key in groups if key[0] == split}),
                    "classes": [
                        {"label": labels.get(label, -1), "label_name": label, **_numbers(counts)}
                        for (its_split, label), counts in groups.items()
                        if its_split == split
                    ],
                }
                for split in splits
            ],
        }


def _numbers(counts: Counts) -> dict[str, int]:
    return {
        "after": counts.kept,
        "approved": counts.approved,
        "before": counts.samples,
        "excluded": counts.excluded,
        "pending": counts.pending,
        "repaired": counts.repaired,
    }


def _balance(groups: Mapping[tuple[str, str], Counts]) -> dict[str, Any]:
    """Compare the classes' shares before and after, in millionths.

    The total-variation distance is half the sum of the differences of all shares: 0 where the
    balance is the same, a million where no class kept its share. Both are rounded down.
    """
    before: dict[str, int] = defaultdict(int)
    after: dict[str, int] = defaultdict(int)
    for (_, label), counts in groups.items():
        before[label] += counts.samples
        after[label] += counts.kept
    all_before, all_after = sum(before.values()), sum(after.values())
    smallest = min(sorted(after), key=lambda label: after[label], default="")
    return {
        "smallest_class": smallest,
        "smallest_share_millionths": after[smallest] * MILLION // all_after if all_after else 0,
        "total_variation_millionths": _distance(before, after, all_before, all_after),
    }


def _distance(
    before: Mapping[str, int], after: Mapping[str, int], all_before: int, all_after: int
) -> int:
    if not all_before:
        return 0
    if not all_after:
        return MILLION
    apart = sum(abs(before[label] * all_after - after[label] * all_before) for label in before)
    return apart * MILLION // (2 * all_before * all_after)
