"""Checks of one sample against its whole set: one function a defect."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sickbay.contract.finding import Finding, SampleRecord
from sickbay.scanner.checks.whole import shapes
from sickbay.scanner.checks.whole.copies import SHOWN, fitting
from sickbay.scanner.checks.whole.facts import SetFacts
from sickbay.scanner.checks.whole.nearest import Near
from sickbay.scanner.evidence import ArrayFacts
from sickbay.scanner.formats import PLAIN_MODES

_DUPLICATE = {
    "picture": "image.duplicate",
    "text": "text.duplicate",
    "row": "text.duplicate",
    "array": "array.duplicate",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample as the second pass sees it; ``number`` counts from 0 in the order noted."""

    number: int
    record: SampleRecord
    kind: str = "picture"
    arrays: tuple[ArrayFacts, ...] = ()

    @property
    def path(self) -> str:
        """Its path as text."""
        return self.record.path.text


def duplicate(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """The same content again in the same split; worse where its labels differ."""
    group = whole.copies(sample.number).get(sample.record.split)
    if group is None or group.copies == 1:
        return
    others = group.others(sample.path)
    message = f"The same content as {others[0]!r}"
    if group.copies > 2:  # noqa: PLR2004 (itself and the named one)
        message += f" and {group.copies - 2:,} more"
    if group.label_count > 1:
        message += f", under {group.label_count:,} labels"
    labels = fitting(group.labels)
    detail = {"copies": group.copies, "others": fitting(others), "labels": labels}
    yield Finding.of(_DUPLICATE[sample.kind], sample.path, message + ".", None, **detail)


def split_leak(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """The same content in more than one split; every copy is held, as one group."""
    groups = whole.copies(sample.number)
    if len(groups) < 2:  # noqa: PLR2004 (splits)
        return
    splits = sorted(groups)
    elsewhere = [
        path for split in splits if split != sample.record.split for path in groups[split].paths
    ]
    named = ", ".join(split or "no split" for split in splits[:SHOWN])
    detail = {
        "group": sample.record.sha256,
        "splits": splits[:SHOWN],
        "copies": sum(group.copies for group in groups.values()),
        "others": fitting(elsewhere[:SHOWN]),
    }
    message = f"The same content stands in {named}."
    yield Finding.of("set.split-leak", sample.path, message, None, **detail)


def name_collision(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """Another name that differs in upper and lower case only."""
    others = whole.alike(sample.number, sample.path)
    if others:
        message = f"Only upper and lower case tell it from {others[0]!r}."
        yield Finding.of("file.name-collision", sample.path, message, others=fitting(others))


def odd_mode(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """A colour mode that is plain by itself but not that of more than half of the set."""
    mode = sample.record.mode
    if sample.kind == "picture" and mode in PLAIN_MODES and whole.usual_mode not in {None, mode}:
        message = f"Its colour mode is {mode}; most of the set is {whole.usual_mode}."
        yield Finding.of("image.odd-mode", sample.path, message, mode=mode)


def odd_size(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """Far more or far fewer pixels than most pictures of the set have."""
    usual, width, height = whole.usual_size, sample.record.width, sample.record.height
    if sample.kind != "picture" or usual is None or not width or not height:
        return
    pixels = width * height
    if not usual.odd(pixels):
        return
    times = max(pixels / usual.median, usual.median / pixels)
    more = "more" if pixels > usual.median else "fewer"
    message = f"It has {times:.0f} times {more} pixels than the middle picture of the set."
    detail = {"pixels": pixels, "median": round(usual.median)}
    yield Finding.of("image.odd-size", sample.path, message, None, **detail)


def near_duplicate(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """A picture that looks almost like another; in another split it is a likely leak."""
    near = whole.near(sample.number)
    if near is None:
        return
    others = fitting([path for path, _ in near.others])
    detail: dict[str, object] = {
        "count": near.count,
        "others": others,
        "distances": [bits for _, bits in near.others][: len(others)],
    }
    if near.cut:
        detail["at_least"] = True
    if near.across is not None:
        path, split, bits = near.across
        detail["across"] = {"path": path[:1000], "split": split[:200], "distance": bits}
    yield Finding.of("image.near-duplicate", sample.path, _nearly(near), None, **detail)


def _nearly(near: Near) -> str:
    path, bits = near.others[0]
    message = f"It looks almost like {path[-150:]!r} ({_bits(bits)})"
    if near.count > 1:
        message += f" and {'at least ' if near.cut else ''}{near.count - 1:,} more"
    if near.across is not None:
        other, split, bits = near.across
        named = "" if other == path else f" {other[-150:]!r} ({_bits(bits)})"
        message += f"; a likely leak:{named or ' it'} stands in {split[:60] or 'no split'}"
    return message + "."


def _bits(bits: int) -> str:
    return f"{bits} of 64 bits differ" if bits else "no bit differs"


def odd_array(sample: Sample, whole: SetFacts) -> Iterator[Finding]:
    """An array whose shape or type does not fit into a batch with the others."""
    for facts in sample.arrays:
        usual = whole.usual_shapes.get((sample.record.format or "", facts.item))
        if usual is not None:
            yield from shapes.wrong(sample.path, facts, usual)


SetCheck = Callable[[Sample, SetFacts], Iterator[Finding]]
SET_CHECKS: tuple[SetCheck, ...] = (
    duplicate,
    split_leak,
    name_collision,
    odd_mode,
    odd_size,
    near_duplicate,
    odd_array,
)
