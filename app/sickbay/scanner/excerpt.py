"""A few words of a text or row around its fault, for a person to see."""

import re

MOST = 200
"""Characters of an excerpt."""
_BEFORE = 60
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LOST = range(0xDC80, 0xDD00)  # what Python makes of a byte that is not UTF-8


def excerpt(text: str, at: int = 0) -> str:
    r"""Return at most 200 characters around a place in a text.

    What cannot be seen is written as ``\n``, ``\xNN`` or ``\uNNNN``; so are bytes that are not
    UTF-8, which Python holds as surrogates.
    """
    start = 0 if at <= _BEFORE else at - _BEFORE
    shown = "".join(map(_shown, text[start : start + MOST]))
    shown = f"…{shown}" if start else shown
    return shown if len(shown) <= MOST and start + MOST >= len(text) else f"{shown[: MOST - 1]}…"


def _shown(char: str) -> str:
    code = ord(char)
    if code in _LOST:
        return f"\\x{code - 0xDC00:02x}"
    if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0:  # noqa: PLR2004 (surrogates, no characters)
        return f"\\u{code:04x}"
    if _UNSEEN.match(char):
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char) or _escaped(code)
    return char


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 (two digits)
