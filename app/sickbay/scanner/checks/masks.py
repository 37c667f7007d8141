"""What can be wrong with a segmentation mask: each check sees its facts and its picture's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.evidence import Evidence

MAX_COLOURS = 65_536
"""More than these are a photograph; panoptic sets, which number each thing, have some hundred."""
_VARIED = 0.25
"""Share of the pixels that are of a colour of their own in a small photograph; areas have few."""
_GREYS = 256  # colours of a grey picture that was saved in colour
_CLEAN = 2  # values of a mask of one class
_BORDER = 255
_SHOWN = 20  # values told in a finding
_PLAIN = frozenset({"1", "L", "P", "I", "I;16"})


@dataclass(frozen=True, slots=True)
class MaskFacts:
    """What a mask's decoder found.

    Attributes:
        format: its format, ``JPEG`` where compression has changed values.
        mode: Pillow's mode; a palette's values are its indices, as loaders read them.
        size: width and height in pixels.
        values: pixels by value, where it has one channel of whole numbers.
        colours: how many different ones, where it has several channels; one more than
            ``MAX_COLOURS`` stands for all beyond.
    """

    format: str
    mode: str
    size: tuple[int, int]
    values: Mapping[int, int] | None = None
    colours: int | None = None


Check = Callable[[MaskFacts, Evidence, Policy, str], Finding | None]


def other_size(mask: MaskFacts, picture: Evidence, _policy: Policy, file: str) -> Finding | None:
    """Mask and picture differ in size, also when the picture is turned as its EXIF asks."""
    own = (picture.width, picture.height)
    if None in own or mask.size == own:
        return None
    if picture.orientation >= 5 and mask.size == own[::-1]:  # noqa: PLR2004 (EXIF: on its side)
        return None
    said = f"The mask is {mask.size[0]} x {mask.size[1]}, the picture {own[0]} x {own[1]}."
    return Finding.of(
        "annotation.size-mismatch", file, said, stated=list(mask.size), size=list(own)
    )


def out_of_range(mask: MaskFacts, _picture: Evidence, policy: Policy, file: str) -> Finding | None:
    """Values that are no class and not the one that is to be ignored."""
    classes = policy.class_count
    if classes is None or mask.values is None:
        return None
    wrong = {
        value: count
        for value, count in mask.values.items()
        if not 0 <= value < classes and value != policy.ignore_label
    }
    if not wrong:
        return None
    shown = dict(sorted(wrong.items())[:_SHOWN])
    said = ", ".join(f"{value} ({count:,} pixels)" for value, count in list(shown.items())[:3])
    more = f" and {len(wrong) - 3} more values" if len(wrong) > 3 else ""  # noqa: PLR2004 (as said)
    return Finding.of(
        "label.out-of-range",
        file,
        f"The mask holds {said}{more}; {_allowed(classes)}{_hint(wrong, policy)}.",
        values={str(value): count for value, count in shown.items()},
        classes=classes,
        ignore_label=policy.ignore_label,
    )


def photograph(mask: MaskFacts, _picture: Evidence, _policy: Policy, file: str) -> Finding | None:
    """So many colours that it is a picture, not a mask."""
    if mask.colours is None or not (mask.colours > MAX_COLOURS or _is_varied(mask)):
        return None
    said = f"It has {_counted(mask.colours)}: a picture, not a mask."
    return Finding.of("annotation.bad-mask", file, said)


def smeared(mask: MaskFacts, _picture: Evidence, _policy: Policy, file: str) -> Finding | None:
    """JPEG has put other values along its edges.

    A grey one may still be meant for a threshold, as Kvasir-SEG's are, and is a warning; of
    colours nobody can tell any more which class they were.
    """
    if mask.format not in {"JPEG", "MPO"}:
        return None
    count = len(mask.values) if mask.values is not None else mask.colours or 0
    if not _CLEAN < count <= MAX_COLOURS:
        return None
    said = f"It is saved as JPEG and has {count:,} values: compression has smeared its edges."
    finding = Finding.of("annotation.bad-mask", file, said, values=count)
    return finding if count > _GREYS else replace(finding, severity=Severity.WARN)


def coloured(mask: MaskFacts, _picture: Evidence, _policy: Policy, file: str) -> Finding | None:
    """Classes written as colours: a loader must know which is which."""
    if mask.mode in _PLAIN:
        return None
    many = "" if mask.colours is None else f" and has {_counted(mask.colours)}"
    said = f"The mask's mode is {mask.mode}{many}; the loader has to turn them into classes."
    return Finding.of("image.odd-mode", file, said, mode=mask.mode, colours=mask.colours)


MASK_CHECKS: tuple[Check, ...] = (other_size, out_of_range, photograph, smeared, coloured)


def _is_varied(mask: MaskFacts) -> bool:
    """Whether so many pixels differ in colour that they draw no areas."""
    colours, (width, height) = mask.colours or 0, mask.size
    return colours > _GREYS and colours > _VARIED * width * height


def _hint(wrong: Mapping[int, int], policy: Policy) -> str:
    """Name the setting where 255 is all there is, as in masks whose borders are not labelled."""
    only = list(wrong) == [_BORDER] and policy.ignore_label is None
    return ", and ignore_label says which value means nothing" if only else ""


def _allowed(classes: int) -> str:
    return f"of {classes} classes the values are 0 to {classes - 1}"


def _counted(colours: int) -> str:
    if colours > MAX_COLOURS:
        return f"more than {MAX_COLOURS:,} colours"
    return "1 colour" if colours == 1 else f"{colours:,} colours"
