"""The size that an annotation states, against the picture's own."""

from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import Evidence
from sickbay.scanner.marks import Frame

_TURNED = range(5, 9)
"""EXIF orientations that lay a picture on its side."""


def size_mismatch(stated: Frame, evidence: Evidence, file: str, item: str | None) -> Finding | None:
    """The stated size is neither the picture's nor, where EXIF lays it on its side, that one's."""
    own = _own(evidence)
    if own is None or stated == own or is_turned(stated, evidence):
        return None
    said = f"The stated size is {stated[0]} x {stated[1]}, the picture is {own[0]} x {own[1]}."
    return Finding.of(
        "annotation.size-mismatch", file, said, item, stated=list(stated), size=list(own)
    )


def is_turned(stated: Frame, evidence: Evidence) -> bool:
    """Whether the stated size is that of the picture turned as its EXIF asks, and only that."""
    own = _own(evidence)
    sideways = own is not None and evidence.orientation in _TURNED
    return sideways and stated != own and stated == (own and own[::-1])


def frame_of(stated: Frame | None, evidence: Evidence) -> Frame | None:
    """Return the size that boxes are judged by; nothing where none is known.

    It is the stated one: where that is not the picture's own, the size is the fault and not every
    box. Where none is stated and EXIF lays the picture on its side, nobody knows which way the
    boxes were drawn, and either will do.
    """
    own = _own(evidence)
    if stated is not None or own is None:
        return stated
    return (max(own), max(own)) if evidence.orientation in _TURNED else own


def _own(evidence: Evidence) -> Frame | None:
    if evidence.width is None or evidence.height is None:
        return None
    return evidence.width, evidence.height
