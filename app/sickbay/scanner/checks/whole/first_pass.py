"""What the first pass keeps of each sample: some seventy bytes, in columns.

Names and labels go to a file of their own; everything here is a number a sample, in the order in
which the records will be written.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from sickbay.scanner.checks.whole.labels import LabelCounts
from sickbay.scanner.checks.whole.names import Names
from sickbay.scanner.checks.whole.numbers import Column, column
from sickbay.scanner.checks.whole.shapes import Shapes
from sickbay.scanner.evidence import Examined
from sickbay.scanner.formats import PLAIN_MODES

_WORD = 1 << 64
_SPLITS = 1 << 16  # told apart; a set with more has no splits but some other column there
OTHER_SPLITS = "other splits"


@dataclass(slots=True)
class FirstPass:
    """Columns over all samples. ``note`` is called once a sample, in the order of the records."""

    names: Names = field(default_factory=Names)
    contents: "array[int]" = field(default_factory=lambda: array("Q"))
    folded: "array[int]" = field(default_factory=lambda: array("Q"))
    labels: "array[int]" = field(default_factory=lambda: array("Q"))
    splits: "array[int]" = field(default_factory=lambda: array("H"))
    hashes: "array[int]" = field(default_factory=lambda: array("Q"))
    hashed: bytearray = field(default_factory=bytearray)
    widths: "array[int]" = field(default_factory=lambda: array("I"))
    heights: "array[int]" = field(default_factory=lambda: array("I"))
    brightness: "array[float]" = field(default_factory=lambda: array("f"))
    modes: Counter[str] = field(default_factory=Counter)
    counts: LabelCounts = field(default_factory=LabelCounts)
    shapes: Shapes = field(default_factory=Shapes)
    split_names: list[str] = field(default_factory=list)
    split_numbers: dict[str, int] = field(default_factory=dict)

    def note(
        self,
        raw: bytes,
        split: str,
        label: str,
        kind: str,
        found: Examined,
        *,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Take one sample into account.

        Args:
            raw: its raw path.
            split: its split, empty where the set has none.
            label: its label, empty where it has none.
            kind: ``picture``, ``text``, ``row`` or ``array``.
            found: what its one read gave.
            labels: the class of each object marked in it, where an annotation file names them; by
                default those a file beside it names, else its label.
        """
        self.names.note(raw, label)
        self.splits.append(self._split_number(split))
        self.labels.append(hash(label) % _WORD)
        self.folded.append(0 if kind == "row" else _name_key(raw))
        self._note_content(found)
        self._note_picture(found, picture=kind == "picture")
        given = found.labels if labels is None else labels
        self.counts.note(split, ([label] if label else []) if given is None else given)
        self.shapes.note(found.format or "", found.arrays)

    def _split_number(self, split: str) -> int:
        number = self.split_numbers.get(split)
        if number is not None:
            return number
        number = len(self.split_names)
        if number == _SPLITS:
            return _SPLITS - 1
        self.split_names.append(split if number < _SPLITS - 1 else OTHER_SPLITS)
        self.split_numbers[split] = number
        return number

    def _note_content(self, found: Examined) -> None:
        """Half of the hash: no two contents share it by chance, nor by much intent."""
        sha256 = found.sha256 if found.size else None
        self.contents.append(0 if sha256 is None else int(sha256[:16], 16))
        self.contents.append(0 if sha256 is None else int(sha256[16:32], 16))

    def _note_picture(self, found: Examined, *, picture: bool) -> None:
        traits = found.traits if picture else None
        hashed = None if traits is None else traits.hash
        sized = picture and found.width is not None and found.height is not None
        self.hashes.append(hashed or 0)
        self.hashed.append(hashed is not None)
        self.widths.append(min(found.width or 0, (1 << 32) - 1) if sized else 0)
        self.heights.append(min(found.height or 0, (1 << 32) - 1) if sized else 0)
        self.brightness.append(nan if traits is None else traits.brightness)
        if picture and found.mode in PLAIN_MODES:
            self.modes[found.mode] += 1

    def __len__(self) -> int:
        return len(self.splits)

    def close(self) -> None:
        """Give the space on disk back."""
        self.names.close()

    def free_measures(self) -> None:
        """Forget sizes and brightness."""
        self.widths, self.heights, self.brightness = array("I"), array("I"), array("f")

    def free_keys(self) -> None:
        """Forget contents and names."""
        self.contents, self.folded = array("Q"), array("Q")

    def free_hashes(self) -> None:
        """Forget what pictures look like."""
        self.hashes, self.hashed = array("Q"), bytearray()

    def pixels(self) -> Column:
        """Pixels of each picture, 0 where unknown or where the sample is no picture."""
        sides = (column(self.widths, np.uint32), column(self.heights, np.uint32))
        return np.multiply(*sides, dtype=np.float64)


def _name_key(raw: bytes) -> int:
    """Names that differ in upper and lower case only have one key; 0 is no name's."""
    return hash(raw.decode("utf-8", "backslashreplace").casefold()) % _WORD or 1
