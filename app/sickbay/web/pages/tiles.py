"""What can be shown of a sample: its picture, its first bytes, or a phrase."""

from dataclasses import dataclass

_TORN = "image.truncated"
_TILE_RATIO = 4 / 3
_ICONS = {"decoder.timed-out": "clock"}


@dataclass(frozen=True, slots=True)
class Look:
    """How a sample is shown: ``src`` where there is a picture, else ``head``, else ``phrase``.

    ``torn`` hatches the ground behind the picture: where a truncated one is transparent, its
    pixels are lost. ``shape`` lays the picture out so that the ground is not seen beside it.
    """

    src: str
    head: str
    phrase: str
    icon: str
    torn: bool
    shape: str


def look(
    address: str,
    *,
    kind: str,
    thumbnail: str | None,
    readable: bool,
    code: str | None,
    head: str | None,
    phrase: str | None,
    size: tuple[int | None, int | None] = (None, None),
) -> Look:
    """Choose how a sample is shown.

    Args:
        address: of the sample.
        kind: ``thumbnail`` or ``preview``.
        thumbnail: SHA-256 of the stored thumbnail, which also names the version of the picture.
        readable: whether a picture can be made on demand where none is stored.
        code: of its worst finding.
        head: its first bytes in hex.
        phrase: what it is, in a few words.
        size: width and height in pixels, where known.
    """
    src = ""
    if thumbnail or readable:
        src = f"{address}/{kind}" + (f"?v={thumbnail[:12]}" if thumbnail else "")
    return Look(
        src=src,
        head=spaced(head or ""),
        phrase=phrase or "",
        icon=_ICONS.get(code or "", "torn"),
        torn=code == _TORN,
        shape=_shape(*size),
    )


def spaced(head: str) -> str:
    """Write hex with a space between bytes, so that it wraps."""
    return " ".join(head[at : at + 2] for at in range(0, len(head), 2))


def _shape(width: int | None, height: int | None) -> str:
    if not width or not height:
        return ""
    return "wide" if width / height >= _TILE_RATIO else "tall"
