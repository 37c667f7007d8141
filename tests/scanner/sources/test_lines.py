"""Physical lines of a file, of bounded length."""

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.scanner.sources.lines import bare, lines


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_lines_end_at_line_feeds_and_know_their_offset(parts: list[bytes]) -> None:
    data = b"x" + b"\n".join(parts)
    read = list(lines(io.BytesIO(data)))
    assert b"".join(line.data for line in read) == data
    assert [line.number for line in read] == list(range(1, len(read) + 1))
    assert all(data[line.at :].startswith(line.data) for line in read)
    assert [line.size for line in read] == [len(bare(line.data)) for line in read]


@given(st.binary(min_size=8, max_size=60), st.sampled_from([b"\n", b"\r\n", b""]))
def test_a_long_line_is_hashed_without_its_line_break(content: bytes, end: bytes) -> None:
    content = content.replace(b"\n", b"?").replace(b"\r", b"?").replace(b"\xef", b"?")
    read = list(lines(io.BytesIO(content + end + (b"next\n" if end else b"")), most=8))
    whole = len(content + end) < 8 or (len(content + end) == 8 and end)
    assert read[0].size == len(content)
    if not whole:
        assert read[0].sha256 == hashlib.sha256(content).hexdigest()
        assert read[0].data == b""
    if end:
        assert (read[1].data, read[1].at) == (b"next\n", len(content + end))


@pytest.mark.parametrize("char", ["\r", "\u2028", "\x85", "\x0b", "\x1c"])
def test_other_separators_are_part_of_a_line(char: str) -> None:
    assert len(list(lines(io.BytesIO(f"a{char}b\nc".encode())))) == 2


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    (line,) = lines(io.BytesIO(b"\xef\xbb\xbfa\n"))
    assert (line.data, line.at) == (b"a\n", 3)


def test_a_mark_alone_is_no_line() -> None:
    assert list(lines(io.BytesIO(b"\xef\xbb\xbf"))) == []
