"""Labels by split: how many of each, and which classes a split lacks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sickbay.contract.finding import MAX_LABELS, Finding

_NAMED = 10
_LONGEST = 200  # characters of a label that are shown


class LabelCounts:
    """Counts of labels by split; given up where there are too many for them to be classes."""

    def __init__(self) -> None:
        self._splits: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._entries = 0
        self.given_up = False

    def note(self, split: str, labels: Iterable[str]) -> None:
        """Count the labels of one sample."""
        if self.given_up:
            return
        for label in labels:
            counts = self._splits[split]
            self._entries += label not in counts
            counts[label] += 1
        if self._entries > MAX_LABELS:
            self._splits.clear()
            self.given_up = True

    def table(self) -> dict[str, dict[str, int]]:
        """Counts by split and label, both in order; empty where they were given up."""
        return {split: dict(sorted(self._splits[split].items())) for split in sorted(self._splits)}


def too_many(counts: LabelCounts) -> Finding | None:
    """More labels than are counted: they name samples rather than classes."""
    if not counts.given_up:
        return None
    message = f"There are more than {MAX_LABELS:,} labels; they are not counted."
    return Finding.of("set.many-labels", "", message)


def class_missing(table: Mapping[str, Mapping[str, int]]) -> list[Finding]:
    """Name the classes that stand in another split but not in this one, one finding a split.

    Only splits with labels are looked at; a test split without any says nothing of classes, nor do
    samples that no split has.
    """
    splits = sorted(split for split in table if split)
    if len(splits) < 2:  # noqa: PLR2004 (splits)
        return []
    classes = set().union(*(table[split] for split in splits))
    absent = {split: sorted(classes.difference(table[split])) for split in splits}
    return [_missing(split, names) for split, names in absent.items() if names]


def _missing(split: str, names: Sequence[str]) -> Finding:
    shown = [name[:_LONGEST] for name in names[:_NAMED]]
    listed = ", ".join(shown[:3]) + (" and others" if len(names) > 3 else "")  # noqa: PLR2004 (three named)
    some = "class of the set has" if len(names) == 1 else "classes of the set have"
    message = f"{len(names):,} {some} no sample in {split}"
    detail = {"split": split, "count": len(names), "classes": shown}
    return Finding.of("set.class-missing", "", f"{message}: {listed}.", None, **detail)
