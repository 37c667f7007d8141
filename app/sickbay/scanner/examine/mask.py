"""A picture with a segmentation mask: both are decoded, and the mask's values counted."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from PIL import Image

from sickbay.contract.finding import Finding
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner import decode
from sickbay.scanner.checks.labels import Classes
from sickbay.scanner.checks.masks import MASK_CHECKS, MAX_COLOURS, MaskFacts
from sickbay.scanner.checks.pictures import faulty
from sickbay.scanner.evidence import Evidence, Examined
from sickbay.scanner.examine import Files, mask_array, picture
from sickbay.scanner.formats import MAX_PIXELS
from sickbay.scanner.pillow import ALLOWED
from sickbay.scanner.task import CAREFUL, FULL, HASH_ONLY, Setup, Task

_COUNTED = frozenset({"L", "P", "1"})  # Pillow has their histogram at once
_MOST_LABELS = 256  # classes counted with those of the set; with more, values number things


def examine(files: Files, task: Task, setup: Setup, care: int) -> Examined:
    """Check a picture and its mask."""
    if task.side is None or care >= HASH_ONLY:
        return picture.examine(files, task, setup, care)
    seen: list[MaskFacts | None] = []
    annotations = partial(_annotations, seen=seen, careful=care >= CAREFUL)
    found = picture.examine(files, task, setup, care, annotations)
    if not seen:  # nothing of the picture could be read
        more = setup.policy.applied(annotations(files, task, setup, Evidence()))
        found = replace(found, findings=(*found.findings, *more))
    every = (name for mask in seen for name in _labels(mask, setup))
    return replace(found, labels=tuple(dict.fromkeys(every)))


def _annotations(
    files: Files,
    task: Task,
    setup: Setup,
    evidence: Evidence,
    *,
    seen: list[MaskFacts | None],
    careful: bool,
) -> Iterable[Finding]:
    """Judge the mask; what is known of it goes into ``seen`` as well."""
    for raw in (task.side or b"", *task.also):
        made: list[MaskFacts | None] = []
        yield from _of_one(files, raw, setup, evidence, made, careful=careful)
        seen += made


def _of_one(
    files: Files,
    raw: bytes,
    setup: Setup,
    evidence: Evidence,
    seen: list[MaskFacts | None],
    *,
    careful: bool,
) -> Iterable[Finding]:
    """Judge one mask."""
    seen.append(None)
    path = SamplePath(raw)
    facts, data = files.read(raw)
    if not data:
        empty = Finding.of("file.empty", "", "The file has no bytes.")
        return [
            replace(one, file=path.text)
            for one in (*facts.findings, *([empty] if data == b"" else []))
        ]
    if setup.depth != FULL:
        return ()
    if path.suffix == ".npy":
        faults, seen[0] = mask_array.read(raw, data, setup)
        return [*faults, *(_judged(seen[0], evidence, setup.policy, path.text) if seen[0] else ())]
    kind, own = decode.kind_of(data, path.suffix), Evidence()
    decode.decode(data, kind, own, setup.limits, careful=careful)
    if (fault := faulty(own, path.suffix, setup)) is not None:
        return [replace(fault, file=path.text)]
    seen[0] = mask = _facts(data, kind or "", own)
    return _judged(mask, evidence, setup.policy, path.text)


def _judged(mask: MaskFacts, evidence: Evidence, policy: Policy, file: str) -> Iterable[Finding]:
    found = (check(mask, evidence, policy, file) for check in MASK_CHECKS)
    return [finding for finding in found if finding is not None]


def _facts(data: bytes, kind: str, own: Evidence) -> MaskFacts:
    """Decode a mask that is known to be sound, and count its values where it is not too large."""
    known = MaskFacts(kind, own.mode or "", (own.width or 0, own.height or 0))
    if own.unchecked or own.pixels > MAX_PIXELS or kind not in ALLOWED:
        return known
    with Image.open(io.BytesIO(data), formats=ALLOWED[kind]) as image:
        values = counted(image)
        colours = None if values is not None or image.mode == "F" else _colours(image)
        return replace(known, mode=image.mode, values=values, colours=colours)


def counted(image: Image.Image) -> Mapping[int, int] | None:
    """Count pixels by value, as ``numpy.array`` of the picture has them.

    Returns:
        Counts by value in ascending order; nothing where it has several channels or fractions.
    """
    if image.mode in _COUNTED:
        bins = image.histogram()
        one = {0: bins[0], 1: bins[255]} if image.mode == "1" else dict(enumerate(bins))
        return {value: count for value, count in one.items() if count}
    if image.mode == "I" or image.mode.startswith("I;16"):
        values, counts = np.unique(np.asarray(image), return_counts=True)
        return dict(zip(values.tolist(), counts.tolist(), strict=True))
    return None


def _colours(image: Image.Image) -> int:
    found = image.getcolors(MAX_COLOURS)
    return MAX_COLOURS + 1 if found is None else len(found)


def _labels(mask: MaskFacts | None, setup: Setup) -> tuple[str, ...]:
    """Name the classes that a mask holds, each once."""
    if mask is None or mask.values is None or len(mask.values) > _MOST_LABELS:
        return ()
    classes, ignored = Classes.of(setup), setup.policy.ignore_label
    valid = (
        value
        for value in mask.values
        if value != ignored and value >= 0 and (classes.count is None or value < classes.count)
    )
    return tuple(classes.shown(value) for value in valid)
