"""UTF-16 and UTF-32 told from UTF-8."""

import pytest

from sickbay.scanner.checks.wide import encoding_of

LINES = "text,label\nhello there you,0\nmore of it,1\n"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_is_told_with_a_mark_or_without(codec: str) -> None:
    assert encoding_of(LINES.encode(codec)) == codec.upper()[:6]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"a\0",
        b"a\0b",
        LINES.encode(),
        b"\0" * 64,
        b"a\0b\0 some more text\0",
        b"ab\0\0" * 9,
    ],
)
def test_utf_8_is_not_taken_for_it_even_with_nul(data: bytes) -> None:
    assert encoding_of(data) is None
