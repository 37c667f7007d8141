"""JPEG, decoded strictly by libjpeg-turbo once its markers are read.

The markers say which frame type the data are: simplejpeg corrupts memory on lossless frames, so
only SOF0 to SOF2 and SOF9 reach it. Strict mode at 1/8 scale finds what full strict decoding
finds (measured on 500 pictures, four kinds of damage).
"""

from functools import partial

from sickbay.scanner import shift, small
from sickbay.scanner.evidence import Evidence, Fault
from sickbay.scanner.huffman import MAX_BYTES, Bad, Frame, check_scan
from sickbay.scanner.jpeg_headers import by_headers, cut, facts, later_scans, strayed, too_large
from sickbay.scanner.markers import NEXT_MARKER, SEQUENTIAL, SOS, Walk
from sickbay.scanner.pillow import load_all
from sickbay.scanner.turbo import Decoded, decode

_STRICT = {0xC0, 0xC1, 0xC2, 0xC9}  # baseline to progressive, and sequential arithmetic
_RARE = {0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF}  # lossless and hierarchical
_REFUSED = ("subsampling", "olorspace", "nsupported", "color conversion")
_ENDS = ("remature end of JPEG file", "input file is empty")
_RAN_OUT = "premature end of data segment"
_SCAN_RULES = ("SOS parameters", "progression sequence")  # warnings about headers of scans
_MEASURED_PIXELS = 16 << 20  # of three bytes; twice that while they are compared


def examine(data: bytes, evidence: Evidence, *, careful: bool = False) -> None:
    """Fill in what is known of a JPEG; ``careful`` leaves simplejpeg out."""
    found = facts(data, evidence)
    evidence.fault = by_headers(data, found)
    if evidence.fault is None:
        evidence.fault = _judged(data, found, evidence, careful=careful)


def _judged(data: bytes, found: Walk, evidence: Evidence, *, careful: bool) -> Fault | None:
    if too_large(found):
        return later_scans(data, found)
    if careful or found.frame not in _STRICT or found.precision != 8:  # noqa: PLR2004 (bits)
        return _by_pillow(data, found, evidence)
    return _by_turbo(data, found, evidence)


def _by_turbo(data: bytes, found: Walk, evidence: Evidence) -> Fault | None:
    """Decode strictly; where the headers are untidy, once more with clean ones.

    Strict mode stops at the first warning, so stray bytes in the headers would hide what is
    behind them.
    """
    times = small.factor(found.width, found.height)
    whole = data if found.end is not None else data + b"\xff\xd9"
    first = decode(whole, found, times)
    if first.pixels is not None:
        return later_scans(data, found) or _looked_at(whole, found, first, evidence)
    whole = found.clean(data)
    second = decode(whole, found, times)
    if second.pixels is not None:
        return later_scans(data, found) or _looked_at(whole, found, second, evidence)
    if second.warning != first.warning and any(word in second.warning for word in _SCAN_RULES):
        return strayed(found) or _loaded(data, evidence)
    return _classified(data, found, second.warning, evidence)


def _looked_at(data: bytes, found: Walk, decoded: Decoded, evidence: Evidence) -> Fault | None:
    """Look at what was decoded without a warning."""
    if decoded.pixels is None:
        return None
    evidence.small = partial(small.of_pixels, decoded.pixels, found.width, found.height)
    if found.components not in (1, 3):
        return None
    side = 8 // small.factor(found.width, found.height)  # of a block
    if not shift.suspicious(shift.blocks(decoded.pixels, side), found.unit):
        return None
    return _shifted(data, found)


def _shifted(data: bytes, found: Walk) -> Fault | None:
    """Look for a shift in all pixels, or in as many as memory allows."""
    times = next(
        times
        for times in (1, 2, 4, 8)
        if found.width * found.height <= _MEASURED_PIXELS * times**2 or times == 8  # noqa: PLR2004 (the smallest)
    )
    pixels = decode(data, found, times, strict=False).pixels
    across, down = found.unit
    unit = (8 // times * across, 8 // times * down)
    stair = None if pixels is None else shift.find(pixels, unit)
    if stair is None or stair.certainty < shift.LIKELY:
        return None
    row, levels = stair.row * times, round(abs(stair.height))
    way = "brighter" if stair.height > 0 else "darker"
    return Fault(
        "image.damaged",
        f"From pixel row {row} on it is {levels} grey values {way}, as one wrong byte makes it.",
        {"row": row, "column": stair.column * times, "certainty": round(stair.certainty, 2)},
        likely=stair.certainty < shift.CERTAIN,
    )


def _classified(data: bytes, found: Walk, warning: str, evidence: Evidence) -> Fault | None:
    if any(word in warning for word in _REFUSED):
        return _by_pillow(data, found, evidence)
    if found.end is None or any(word in warning for word in _ENDS):
        return cut(data, found, warning)
    if decode(found.clean(data), found, 8, strict=False).pixels is None:
        return _by_pillow(data, found, evidence)
    message = f"The JPEG data are wrong: {warning}."
    return Fault("image.damaged", message, ran_out=_RAN_OUT in warning)


def _by_pillow(data: bytes, found: Walk, evidence: Evidence) -> Fault | None:
    """Judge by a full decode: some valid JPEGs are beyond libjpeg-turbo's simple interface."""
    if found.bad_scan:
        return Fault("image.damaged", f"The JPEG data are wrong: {found.bad_scan}.")
    fault = _loaded(data, evidence)
    if fault is None:
        return _by_hand(data, found) or later_scans(data, found)
    if found.frame in _RARE or found.precision != 8:  # noqa: PLR2004 (bits)
        kind = f"A JPEG of frame type {found.frame:#x} and {found.precision} bits"
        return Fault("image.unsupported", f"{kind}; no decoder for it is installed here.")
    return cut(data, found, fault.message) if found.end is None else fault


def _by_hand(data: bytes, found: Walk) -> Fault | None:
    """Walk the codes of a sequential picture, because Pillow hides what libjpeg warns of."""
    if found.frame not in SEQUENTIAL or len(data) > MAX_BYTES:
        return None
    frame = Frame()
    try:
        for start, end in found.needed[1:]:
            marker, length = data[start + 1], int.from_bytes(data[start + 2 : start + 4], "big")
            body = data[start + 4 : start + 2 + length]
            frame.take(marker, body)
            if marker == SOS:
                following = NEXT_MARKER.search(data, start + 2 + length, end)
                stop = following.start() if following else end
                check_scan(frame, body, data[start + 2 + length : stop])
    except Bad as bad:
        return Fault("image.damaged", f"The JPEG data are wrong: {bad}.")
    except (IndexError, ValueError, ZeroDivisionError):
        return Fault("image.damaged", "The JPEG data are wrong: a header is malformed.")
    return None


def _loaded(data: bytes, evidence: Evidence) -> Fault | None:
    loaded = Evidence()
    fault = load_all(data, "JPEG", loaded, frames=1)
    evidence.small = loaded.small
    return fault
