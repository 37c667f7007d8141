"""What a batch really holds: finite inputs and labels, labels in range, the shapes of the first.

    checks = BatchChecks(num_classes=10)
    for step, batch in enumerate(loader):
        checks.look(batch, step)

On the CPU a bad batch is told at once. On a device the answers stay there, a few bytes a step,
and are read together every ``check_interval`` steps, so that nothing waits for the device more
often. What is found is told to the run, each sample once for each kind; nothing is raised. Values
that are not finite are told a step later, and left to a watch where it has seen them too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sickbay.trainer as kit
from sickbay.contract.event import FailureKind
from sickbay.trainer import once
from sickbay.trainer.complaints import harmless
from sickbay.trainer.shapes import leaves
from sickbay.trainer.traced import witness
from sickbay.trainer.traced.arrivals import samples_of
from sickbay.trainer.traced.notes import new_ref

LABELS = ("label", "labels", "target", "targets", "y")
"""Keys of a mapping under which the labels are."""
IGNORED = -100
"""The label that torch's cross entropy leaves out by default."""
_VOID = 255
_MOST_TOLD = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    """What is wrong with a batch: which samples, where in the batch, and in words."""

    kind: FailureKind
    step: int | None
    samples: tuple[str, ...]
    message: str
    detail: Mapping[str, Any] = field(default_factory=dict)


_NOTHING: tuple[Found, ...] = ()


@dataclass(frozen=True, slots=True)
class _Later:
    """An answer that is still on a device: for each sample, whether it is bad."""

    kind: FailureKind
    step: int | None
    samples: Sequence[str]
    name: str
    bad: Any


class BatchChecks:
    """Looks at the tensors of every batch.

    Args:
        num_classes: whole labels are from 0 to one less; nothing said, nothing checked.
        ignore_label: a label beside them that is allowed.
        labels: the key or place of the labels in a batch; by default the usual keys of a mapping,
            and the last part of a tuple or list.
        check_interval: steps between two looks at what is on a device.
        fixed_sizes: whether all batches have the first one's sizes (but for their length); batches
            of whole numbers, such as padded texts, may differ anyway.
    """

    def __init__(
        self,
        num_classes: int | None = None,
        *,
        ignore_label: int = IGNORED,
        labels: str | int | None = None,
        check_interval: int = 50,
        fixed_sizes: bool = True,
    ) -> None:
        self._num_classes = num_classes
        self._ignored = ignore_label
        self._labels = labels
        self._interval = max(1, check_interval)
        self._fixed = fixed_sizes
        self._first: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._later: list[_Later] = []
        self._looks = 0
        self._told: set[tuple[str, tuple[str, ...]]] = set()
        self._untold: list[Found] = []

    @harmless(_NOTHING)
    def look(
        self, batch: Any, step: int | None = None, samples: Sequence[str] | None = None
    ) -> tuple[Found, ...]:
        """Check a batch, tell the run what is wrong, and return it.

        Args:
            batch: as it goes into the model.
            step: as given to ``log``.
            samples: its samples' paths; those that came with it where they are not given.
        """
        paths = samples_of(batch) if samples is None else list(samples)
        self._looks += 1
        self.tell()
        found = [*self._parts(batch, step, paths)]
        if self._later and self._looks % self._interval == 0:
            found += self._due()
        self._untold += found
        self.tell(but=_AS_THE_WATCH)
        return tuple(found)

    @harmless(_NOTHING)
    def finish(self) -> tuple[Found, ...]:
        """Read what is still on a device, at the end of an epoch or of the training."""
        found = tuple(self._due())
        self._untold += found
        self.tell()
        return found

    @harmless(None)
    def tell(self, but: Sequence[FailureKind] = ()) -> None:
        """Tell what was not told yet, ``but`` of these kinds."""
        untold, self._untold = self._untold, [one for one in self._untold if one.kind in but]
        (_waiting.add if self._untold else _waiting.discard)(self)
        for one in untold:
            if one.kind not in but:
                self._tell(one)

    def kept(self, step: int) -> list[Found]:
        """Return what was found in a step and is not told yet."""
        return [one for one in self._untold if one.step == step]

    def _parts(self, batch: Any, step: int | None, paths: Sequence[str]) -> Iterator[Found]:
        wanted = self._label_name(batch)
        for name, part in leaves(batch):
            if not hasattr(part, "detach"):
                continue
            tensor = part.detach()
            unlike = list(self._shape(name, tensor, step, paths))
            top = name.partition(".")[0]
            values = list(self._values(name, tensor, step, paths, label=top == wanted))
            yield from values or unlike  # a NaN makes fractions of whole labels: that is one fault

    def _label_name(self, batch: Any) -> str | None:
        if self._labels is not None:
            return str(self._labels)
        if isinstance(batch, Mapping):
            return next((key for key in LABELS if key in batch), None)
        if isinstance(batch, tuple) and hasattr(batch, "_fields"):
            return next((key for key in LABELS if key in batch._fields), str(batch._fields[-1]))
        several = isinstance(batch, tuple | list) and len(batch) > 1
        return str(len(batch) - 1) if several else None

    def _shape(
        self, name: str, tensor: Any, step: int | None, paths: Sequence[str]
    ) -> Iterator[Found]:
        """Compare with the first batch: type, number of dimensions, and sizes but the first."""
        now = (str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
        first = self._first.setdefault(name, now)
        sizes = self._fixed and tensor.is_floating_point()
        same = now[0] == first[0] and len(now[1]) == len(first[1])
        if same and (not sizes or now[1][1:] == first[1][1:]):
            return
        what = _called(name)
        words = f"{what} is {now[0]} {list(now[1])}, the first was {first[0]} {list(first[1])}"
        detail = {"part": name, "is": [*map(str, now)], "first": [*map(str, first)]}
        yield Found(FailureKind.SHAPE_MISMATCH, step, tuple(paths), words, detail)

    def _values(
        self, name: str, tensor: Any, step: int | None, paths: Sequence[str], *, label: bool
    ) -> Iterator[Found]:
        if tensor.is_floating_point() or tensor.is_complex():
            kind = FailureKind.NON_FINITE_LABEL if label else FailureKind.NON_FINITE_INPUT
            if not _on_cpu(tensor) or not _finite(tensor):
                yield from self._answered(
                    _Later(kind, step, paths, name, _by_sample(~tensor.isfinite())), tensor
                )
        if label and self._num_classes is not None and _of_classes(tensor):
            bad = _by_sample(self._outside(tensor, self._num_classes))
            yield from self._answered(
                _Later(FailureKind.LABEL_ASSERT, step, paths, name, bad), tensor
            )

    def _outside(self, labels: Any, classes: int) -> Any:
        """Say of each label whether it is no class; 255 is none in a mask of bytes, by custom."""
        signed = labels.short() if labels.element_size() == 1 else labels
        outside = ((signed < 0) | (signed >= classes)) & (signed != self._ignored)
        return outside & (signed != _VOID) if "uint8" in str(labels.dtype) else outside

    def _answered(self, later: _Later, tensor: Any) -> Iterator[Found]:
        if not _on_cpu(tensor):
            self._later.append(later)
        elif (found := self._found(later, later.bad, tensor)) is not None:
            yield found

    def _due(self) -> Iterator[Found]:
        """Read all answers that are on a device."""
        waiting, self._later = self._later, []
        for later in waiting:
            if (found := self._found(later, later.bad.cpu(), None)) is not None:
                yield found

    def _found(self, later: _Later, bad: Any, tensor: Any) -> Found | None:
        places = [place for place, wrong in enumerate(bad.tolist()) if wrong]
        if not places:
            return None
        named = tuple(_named(later.samples, places, len(bad)))
        what = _called(later.name)
        words = f"{what} {_WORDS[later.kind]} in {len(places)} of {len(bad)} samples"
        detail: dict[str, Any] = {"part": later.name, "places": places[:100]}
        if later.kind is FailureKind.LABEL_ASSERT:
            words += f" (classes are 0 to {(self._num_classes or 0) - 1})"
            if tensor is not None:
                detail["labels"] = tensor.reshape(len(bad), -1)[places[:10]].unique()[:10].tolist()
        return Found(later.kind, later.step, named, words, detail)

    def _tell(self, found: Found) -> None:
        key = (found.kind.value, found.samples)
        if key in self._told or len(self._told) >= _MOST_TOLD:
            return
        self._told.add(key)
        ref = new_ref()
        if once.ref_of("checks", found.kind, found.step, found.samples, ref) != ref:
            return
        fields: dict[str, Any] = {} if found.step is None else {"step": found.step}
        kit.run().failure(
            found.kind,
            ref=ref,
            message=found.message,
            samples=found.samples,
            detail=found.detail,
            **fields,
        )


_AS_THE_WATCH = (FailureKind.NON_FINITE_INPUT, FailureKind.NON_FINITE_LABEL)
_waiting: set[BatchChecks] = set()
"""Those who have something to tell still; the script may have let go of them."""


def untold(step: int) -> list[Found]:
    """Return what is not finite in a step's batch and not told yet: a watch may tell it."""
    return [one for checks in list(_waiting) for one in checks.kept(step)]


def _tell_all() -> None:
    for checks in list(_waiting):
        checks.tell()


witness.leaving.append(_tell_all)
_WORDS = {
    FailureKind.NON_FINITE_INPUT: "is not finite",
    FailureKind.NON_FINITE_LABEL: "is not finite",
    FailureKind.LABEL_ASSERT: "is outside of the classes",
}


def _on_cpu(tensor: Any) -> bool:
    return bool(tensor.device.type == "cpu")


def _finite(tensor: Any) -> bool:
    """Whether all is finite, in one pass: a sum is finite only if what it adds is.

    A finite tensor whose sum overflows is looked at again, value by value.
    """
    total = tensor.sum()
    return bool(total.isfinite())


def _of_classes(labels: Any) -> bool:
    """Whether labels are numbers of classes: whole, or fractions that come one a sample."""
    if labels.is_complex() or str(labels.dtype) == "torch.bool":
        return False
    return not labels.is_floating_point() or labels.numel() == (len(labels) if labels.dim() else 1)


def _by_sample(bad: Any) -> Any:
    """Return for each sample whether any of its values is bad; copies none, however they lie."""
    if bad.dim() < 2:  # noqa: PLR2004 (one value a sample)
        return bad.reshape(-1)
    return bad.any(dim=tuple(range(1, bad.dim())))


def _called(part: str) -> str:
    """Return words for a part of a batch; of a pair, its parts are numbers."""
    return f"part {part} of the batch" if part.isdigit() else part or "the batch"


def _named(paths: Sequence[str], places: Iterable[int], count: int) -> Iterator[str]:
    """Yield the paths at these places; where places and paths do not match, all."""
    if len(paths) != count:
        yield from paths
        return
    for place in places:
        yield paths[place]
