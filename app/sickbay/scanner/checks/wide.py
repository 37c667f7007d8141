"""UTF-16 and UTF-32 told from UTF-8, with their mark or without."""

_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_LOOKED_AT = 1 << 16
_LEAST = 4  # bytes
_NEARLY = 0.9
"""Share of the high bytes that are NUL in a text of Latin letters; here and there stands a dash."""
_WIDTHS = ((4, "UTF-32"), (2, "UTF-16"))


def encoding_of(head: bytes) -> str | None:
    """Return the encoding of two or four bytes a character that some first bytes show.

    Without a mark it shows where each second byte, or three of four, are NUL and the others are
    not: in UTF-8 that would be a text with a NUL behind each letter, which nobody writes.
    """
    if (marked := _MARKS.get(head[:2])) is not None:
        return marked
    some = head[: min(_LOOKED_AT, len(head) - len(head) % 4)] if len(head) > _LEAST else head
    if len(some) < _LEAST or b"\0" not in some:
        return None
    for width, name in _WIDTHS:
        counts = [some[at::width].count(0) / (len(some) // width) for at in range(width)]
        own = counts.index(min(counts))
        others = [count for at, count in enumerate(counts) if at != own]
        if own in {0, width - 1} and not counts[own] and min(others) >= _NEARLY:
            return name
    return None
