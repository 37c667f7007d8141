"""What full depth takes: decoders, a look at the pixels, thumbnails.

NumPy comes with this module, and half of a child's start; so it is imported when it is needed.
"""

from sickbay.scanner import jpeg, pillow, png
from sickbay.scanner.evidence import Evidence, Traits
from sickbay.scanner.limits import Limits
from sickbay.scanner.looks import looks
from sickbay.scanner.perceptual import perceptual_hash
from sickbay.scanner.thumbnail import thumbnail

__all__ = ["decode", "look_at", "thumbnail"]


def decode(data: bytes, kind: str, evidence: Evidence, limits: Limits, *, careful: bool) -> None:
    """Let the decoder of a kind fill in the evidence."""
    if kind == "JPEG":
        jpeg.examine(data, evidence, careful=careful)
    elif kind == "PNG":
        png.examine(data, evidence, budget=limits.inflated_bytes)
    else:
        pillow.examine(data, kind, evidence, frames=limits.frames)


def look_at(evidence: Evidence) -> None:
    """Measure how a picture looks, where it was decoded."""
    if evidence.small is None or (small := evidence.small()) is None:
        return
    evidence.looks = looks(small.grey)
    evidence.traits = Traits(
        perceptual_hash(small.grey, (small.width, small.height)), evidence.looks.brightness
    )
