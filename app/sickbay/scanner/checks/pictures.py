"""What may be said of one picture, from the evidence its decoder gave."""

from collections.abc import Callable
from dataclasses import replace

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import Evidence
from sickbay.scanner.exif import UPRIGHT
from sickbay.scanner.formats import MAX_PIXELS, PICTURE_SUFFIXES, PLAIN_MODES, SUFFIXES
from sickbay.scanner.task import Setup

Check = Callable[[Evidence, str, Setup], Finding | None]


def faulty(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """What the decoder proved: undecodable, unsupported, truncated, damaged or a bomb."""
    fault = evidence.fault
    if fault is None:
        return None
    finding = Finding.of(fault.code, "", fault.message, **fault.detail)
    return replace(finding, severity=Severity.WARN) if fault.likely else finding


def wrong_extension(evidence: Evidence, suffix: str, _setup: Setup) -> Finding | None:
    """The name says one format, the content is another."""
    kind = "JPEG" if evidence.format == "MPO" else evidence.format
    if kind is None or suffix not in PICTURE_SUFFIXES or suffix in SUFFIXES.get(kind, ()):
        return None
    message = f"The name ends in {suffix}, the content is {kind}."
    return Finding.of("image.wrong-extension", "", message, format=kind)


def huge(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """More pixels than Pillow accepts without a warning, or than can be decoded here."""
    if evidence.pixels <= MAX_PIXELS and not evidence.unchecked:
        return None
    message = f"{evidence.width} x {evidence.height} pixels are more than common loaders accept"
    if evidence.unchecked:
        message += "; it was not decoded in whole"
    return Finding.of("image.huge", "", message + ".", pixels=evidence.pixels, limit=MAX_PIXELS)


def too_small(evidence: Evidence, _suffix: str, setup: Setup) -> Finding | None:
    """A side shorter than the limit."""
    side = min(evidence.width or 0, evidence.height or 0)
    if not 0 < side < setup.policy.min_side:
        return None
    message = f"{evidence.width} x {evidence.height} pixels; the limit is {setup.policy.min_side}."
    return Finding.of("image.too-small", "", message, limit=setup.policy.min_side)


def odd_mode(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """A colour mode that common loaders convert badly or not at all."""
    if evidence.mode is None or evidence.mode in PLAIN_MODES:
        return None
    message = f"Its colour mode is {evidence.mode}."
    return Finding.of("image.odd-mode", "", message, mode=evidence.mode)


def exif_rotated(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """The metadata ask for a turn."""
    if evidence.orientation == UPRIGHT:
        return None
    message = f"EXIF orientation {evidence.orientation}: viewers turn it, many loaders do not."
    return Finding.of("image.exif-rotated", "", message, orientation=evidence.orientation)


def animated(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """More frames than one."""
    if evidence.frames <= 1:
        return None
    message = f"It has {evidence.frames} frames."
    return Finding.of("image.animated", "", message, frames=evidence.frames)


def trailing_data(evidence: Evidence, _suffix: str, _setup: Setup) -> Finding | None:
    """Bytes behind the end of the picture that are not mere padding."""
    if not evidence.trailing:
        return None
    message = f"{evidence.trailing} bytes follow the end of the picture."
    return Finding.of("image.trailing-data", "", message, bytes=evidence.trailing)


PICTURE_CHECKS: tuple[Check, ...] = (
    faulty,
    wrong_extension,
    huge,
    too_small,
    odd_mode,
    exif_rotated,
    animated,
    trailing_data,
)
