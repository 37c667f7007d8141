import base64

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract.errors import BadInput
from sickbay.contract.paths import SamplePath, folded, from_record, leaves_root, unsafe_reason

PART = some.binary(min_size=1, max_size=12).filter(
    lambda part: b"/" not in part and b"\0" not in part and part not in (b".", b"..")
)
RAW = some.lists(PART, min_size=1, max_size=4).map(b"/".join)


@given(RAW)
def test_every_name_that_a_disk_can_hold_survives_a_record(raw: bytes) -> None:
    path = SamplePath(raw)
    assert from_record(path.text, path.base64) == path


@given(RAW, RAW)
def test_two_names_are_never_shown_alike_with_the_same_bytes_beside_them(
    one: bytes, other: bytes
) -> None:
    shown = [(SamplePath(raw).text, SamplePath(raw).base64) for raw in (one, other)]
    assert (shown[0] == shown[1]) is (one == other)


@given(some.lists(RAW, max_size=8))
def test_paths_sort_by_their_bytes(raws: list[bytes]) -> None:
    assert [path.raw for path in sorted(map(SamplePath, raws))] == sorted(raws)


def test_bytes_that_are_no_text_are_shown_escaped_and_a_backslash_doubled() -> None:
    path = SamplePath(b"a\\b\xff.jpg")
    assert path.text == "a\\\\b\\xff.jpg"
    assert path.base64 == base64.b64encode(path.raw).decode()
    assert SamplePath(b"a\\b.jpg").text == "a\\b.jpg"


@pytest.mark.parametrize(
    ("raw", "suffix"),
    [
        (b"a/b.JPG", ".jpg"),
        (b"a.b/c", ""),
        (b".hidden", ""),
        (b"a.tar.gz", ".gz"),
        (b"a.", "."),
        (b"a.\xff", ".\xff"),
    ],
)
def test_a_suffix_is_lower_case_and_of_the_name_alone(raw: bytes, suffix: str) -> None:
    assert SamplePath(raw).suffix == suffix


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("", None),
        ("/etc/passwd", None),
        ("a/../b", None),
        ("a//b", None),
        ("./a", None),
        ("a\0b", None),
        ("a" * 4097, None),
        ("\ud800", None),
        ("a", base64.b64encode(b"b").decode()),
        ("a", base64.b64encode(b"a").decode()),
        ("a\\xff", "not base64!"),
        ("a\\xff", "é"),
        ("..", base64.b64encode(b"..").decode()),
        ("\\xff/..", base64.b64encode(b"\xff/..").decode()),
    ],
)
def test_a_record_cannot_name_anything_else_or_outside(text: str, encoded: str | None) -> None:
    with pytest.raises(BadInput):
        from_record(text, encoded)


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"\xff", "UTF-8"),
        (b"a\nb", "control"),
        (b"a\x7fb", "control"),
        ("a\u0085b".encode(), "control"),
        ("a\u2029b".encode(), "line break"),
        (b"a\\b", "backslash"),
        (b"C:a", "drive"),
        (b"../a", "leaves"),
        (b"/a", "leaves"),
    ],
)
def test_an_unsafe_name_is_told_why(raw: bytes, word: str) -> None:
    assert word in (unsafe_reason(SamplePath(raw)) or "")


@given(RAW)
def test_a_safe_name_is_one_line_of_text_below_the_root(raw: bytes) -> None:
    if unsafe_reason(SamplePath(raw)) is None:
        text = raw.decode()
        assert text.splitlines() == [text]
        assert not leaves_root(raw)


@given(some.text(max_size=12))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_folding_hides_case_and_normal_form() -> None:
    assert folded("Cafe\u0301.JPG") == folded("caf\u00e9.jpg")
    assert folded("a.jpg") != folded("b.jpg")
