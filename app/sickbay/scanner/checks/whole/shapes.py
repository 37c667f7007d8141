"""Shape and type of arrays against the rest of the set: what cannot be batched is named.

Arrays of one name (and format of file) belong together. Where at least two thirds of three files
or more have one shape, every other shape is wrong. Else each axis is looked at by itself: a length
that nine in ten have is *fixed*, the rest are *free*, as the time axis of recordings is; an array
that departs from what is fixed is wrong, and the free axes are one remark on the set, not a fault
of thousands of files. The type of the elements goes by two thirds as well.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import ArrayFacts

_FILES = 3  # that make a rule
_MOST = 2 / 3
_NEARLY_ALL = 0.9  # a third of the files for each axis would be too many to hold
_NAMES = 10_000  # of arrays, looked at
_VALUES = 1000  # lengths counted for one axis; a length that two thirds have outlives the cut
_SHOWN = 10


@dataclass(slots=True)
class Tally:
    """Counts values in bounded memory: with too many, the rare half is forgotten."""

    total: int = 0
    counts: Counter[Hashable] = field(default_factory=Counter)

    def add(self, value: Hashable) -> None:
        """Count one."""
        self.total += 1
        self.counts[value] += 1
        if len(self.counts) > _VALUES:
            self.counts = Counter(dict(self.counts.most_common(_VALUES // 2)))

    def usual(self, share: float = _MOST) -> Any:
        """The value that at least this share has, if one has."""
        if self.total < _FILES:
            return None
        (value, count), *_ = self.counts.most_common(1) or [(None, 0)]
        return value if count >= share * self.total else None


@dataclass(slots=True)
class Kind:
    """All arrays of one name."""

    dtypes: Tally = field(default_factory=Tally)
    shapes: Tally = field(default_factory=Tally)
    ranks: Tally = field(default_factory=Tally)
    axes: dict[tuple[int, int], Tally] = field(default_factory=dict)

    def add(self, facts: ArrayFacts) -> None:
        """Count one."""
        self.dtypes.add(facts.dtype)
        self.shapes.add(facts.shape)
        rank = len(facts.shape)
        self.ranks.add(rank)
        for axis, length in enumerate(facts.shape):
            self.axes.setdefault((rank, axis), Tally()).add(length)

    def usual(self) -> "Usual":
        """What is fixed."""
        lengths = self.shapes.usual()
        if lengths is None:  # () is a shape
            lengths = self._fixed_axes()
        dtype = self.dtypes.usual()
        several = self.shapes.total >= _FILES
        return Usual(
            lengths,
            dtype,
            mixed_types=several and dtype is None,
            mixed_shapes=several and (lengths is None or None in lengths),
        )

    def _fixed_axes(self) -> tuple[int | None, ...] | None:
        rank = self.ranks.usual(_NEARLY_ALL)
        if rank is None:
            return None
        return tuple(self.axes[rank, axis].usual(_NEARLY_ALL) for axis in range(rank))


@dataclass(frozen=True, slots=True)
class Usual:
    """What arrays of one name have in common; a length of nothing is free."""

    lengths: tuple[int | None, ...] | None
    dtype: str | None
    mixed_types: bool
    mixed_shapes: bool

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape departs from nothing that is fixed."""
        if self.lengths is None:
            return True
        return len(shape) == len(self.lengths) and all(
            fixed in {None, length} for fixed, length in zip(self.lengths, shape, strict=True)
        )

    @property
    def shown(self) -> str:
        """The usual shape as text, ``*`` for a free axis."""
        parts = ["*" if length is None else str(length) for length in self.lengths or ()]
        return _tuple(parts)


class Shapes:
    """Counts of shapes and types by name, and what they make usual."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str | None], Kind] = {}

    def note(self, form: str, arrays: Sequence[ArrayFacts]) -> None:
        """Count the arrays of one file of one format."""
        for facts in arrays:
            name = (form, facts.item)
            if name in self._kinds or len(self._kinds) < _NAMES:
                self._kinds.setdefault(name, Kind()).add(facts)

    def usual(self) -> dict[tuple[str, str | None], Usual]:
        """What is fixed for each name."""
        return {name: kind.usual() for name, kind in self._kinds.items()}


def wrong(path: str, facts: ArrayFacts, usual: Usual) -> Iterator[Finding]:
    """Yield what departs from the usual in one array."""
    array = {"shape": list(facts.shape), "dtype": facts.dtype}
    if not usual.fits(facts.shape):
        shape = _tuple([str(length) for length in facts.shape])
        message = f"Its shape is {shape}; most of the set is {usual.shown}."
        yield Finding.of(
            "array.wrong-shape", path, message, facts.item, array=array, usual=usual.shown
        )
    if usual.dtype not in {None, facts.dtype}:
        message = f"Its type is {facts.dtype}; most of the set is {usual.dtype}."
        yield Finding.of(
            "array.wrong-dtype", path, message, facts.item, array=array, usual=usual.dtype
        )


def mixed(usual: dict[tuple[str, str | None], Usual]) -> Finding | None:
    """Say in one finding which arrays of the set have no usual shape or type."""
    shapes = sorted(_called(*name) for name, one in usual.items() if one.mixed_shapes)
    types = sorted(_called(*name) for name, one in usual.items() if one.mixed_types)
    parts = []
    if shapes:
        parts.append(f"shapes differ from file to file in {_some(shapes)}")
    if types:
        parts.append(f"types differ in {_some(types)}")
    if not parts:
        return None
    message = f"Arrays do not all fit into one batch: {'; '.join(parts)}."
    detail = {"shapes": shapes[:_SHOWN], "types": types[:_SHOWN]}
    return Finding.of("set.mixed-shapes", "", message, None, **detail)


def _called(form: str, item: str | None) -> str:
    return f"{form} files" if item is None else f"{item[:80]!r} of {form} files"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""  # noqa: PLR2004 (three named)
    return ", ".join(names[:3]) + more


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
