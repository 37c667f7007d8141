"""What can be shown of a sample: its picture, its first bytes, or a phrase."""

from dataclasses import dataclass

_TORN = frozenset({"image.truncated", "image.damaged"})
_NO_PICTURE = frozenset(
    {
        "file.empty",
        "file.missing",
        "file.unreadable",
        "file.not-regular",
        "image.undecodable",
        "image.unsupported",
        "image.bomb",
        "decoder.crashed",
        "decoder.timed-out",
        "decoder.out-of-memory",
    }
)
"""Codes of what no decoder gives a picture of: not worth asking for one."""
_ICONS = {"decoder.timed-out": "clock"}
_SMALL = 128
"""Pixels: a smaller picture is enlarged in sharp squares, so that its pixels can be judged."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a sample is shown: ``src``, a picture, else ``text``, else ``head``, else ``phrase``.

    ``torn`` hatches the ground behind the picture: where it is transparent, pixels are lost.
    """

    src: str
    head: str
    phrase: str
    icon: str
    torn: bool
    small: bool = False
    text: str = ""

    @property
    def css(self) -> str:
        """Return the classes of its picture."""
        return "shot" + (" torn" if self.torn else "") + (" small" if self.small else "")


def look(
    address: str,
    *,
    kind: str,
    thumbnail: str | None,
    at_hand: bool,
    code: str | None = None,
    head: str | None = None,
    phrase: str | None = None,
    width: int | None = None,
    text: str = "",
) -> Look:
    """Choose how a sample is shown.

    Args:
        address: of the sample.
        kind: last part of the picture's address: ``thumbnail``, ``preview`` …
        thumbnail: SHA-256 of the stored picture, which also names its version.
        at_hand: whether the file is on this machine, so that a picture can be made of it.
        code: of its worst finding.
        head: its first bytes in hex.
        phrase: what it is, in a few words.
        width: in pixels, where known.
        text: what there is to see of a sample that is no picture.
    """
    src = ""
    if thumbnail or (at_hand and code not in _NO_PICTURE):
        src = f"{address}/{kind}" + (f"?v={thumbnail[:12]}" if thumbnail else "")
    return Look(
        src=src,
        head=spaced(head or ""),
        phrase=phrase or "",
        icon=_ICONS.get(code or "", "torn"),
        torn=code in _TORN,
        small=width is not None and width < _SMALL,
        text=text,
    )


def spaced(head: str) -> str:
    """Write hex with a space between bytes, so that it wraps."""
    return " ".join(head[at : at + 2] for at in range(0, len(head), 2))
