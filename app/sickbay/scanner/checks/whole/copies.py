"""Exact copies: the same content more than once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from json.encoder import encode_basestring_ascii as _quoted

import numpy as np

from sickbay.scanner.checks.whole.names import Names
from sickbay.scanner.checks.whole.numbers import Column

SHOWN = 10  # other copies named in a finding
_ROOM = 3000  # characters of JSON; twice that and a little fit into a detail


@dataclass(frozen=True, slots=True)
class Group:
    """Samples of one content in one split: how many, the first few, and some of their labels."""

    copies: int
    label_count: int
    labels: tuple[str, ...]
    paths: tuple[str, ...]

    @classmethod
    def of(cls, members: Column, labels: Column, names: Names) -> "Group":
        """Look at the members of one split, given in order, and their label keys."""
        keys, places = np.unique(labels[members], return_index=True)
        first = members[np.sort(places)[:SHOWN]].tolist()
        return cls(
            len(members),
            len(keys),
            tuple(sorted(names.label(number) for number in first)),
            tuple(names.path(number) for number in members[: SHOWN + 1].tolist()),
        )

    def others(self, path: str) -> list[str]:
        """The first few paths but this one."""
        return [other for other in self.paths if other != path][:SHOWN]


def fitting(texts: Sequence[str]) -> list[str]:
    """As many of the texts as a finding's detail has room for; paths may be very long."""
    sizes = accumulate(len(_quoted(text)) for text in texts)
    return [text for text, size in zip(texts, sizes, strict=True) if size <= _ROOM]
