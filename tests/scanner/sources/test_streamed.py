"""Large JSON comes entry by entry, in bounded memory, and a fault has its line and byte."""

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.scanner.sources import streamed
from sickbay.scanner.sources.streamed import Malformed, Part, Streamed

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window so small that every value crosses its end."""
    monkeypatch.setattr(streamed, "WINDOW", 1)


def parts(data: bytes) -> list[Part]:
    return list(Streamed(io.BytesIO(data)).parts())


def fault(data: bytes) -> tuple[str, int, int]:
    with pytest.raises(Malformed) as caught:
        parts(data)
    return caught.value.reason, caught.value.line, caught.value.byte


def joined(data: bytes) -> dict[str, Any]:
    """Put the parts of a file together again."""
    made: dict[str, Any] = {}
    stream = Streamed(io.BytesIO(data))
    for part in stream.parts():
        if part.listed:
            made.setdefault(part.key, []).append(part.value)
        else:
            made[part.key] = part.value
    return made | {name: [] for name in stream.names - made.keys()}


@given(st.dictionaries(st.text(max_size=5), st.lists(values, max_size=4) | values, max_size=5))
def test_any_object_is_read_as_the_standard_library_reads_it(value: dict[str, Any]) -> None:
    for options in ({}, {"indent": 1}, {"ensure_ascii": False}):
        data = json.dumps(value, **options).encode("utf-8", errors="surrogatepass")
        assert repr(joined(data)) == repr(json.loads(json.dumps(joined(data))))
        assert json.dumps(joined(data), sort_keys=True) == json.dumps(value, sort_keys=True)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "value",
    [
        {"a": [1234, -5.25e10, True, None], "b": {"c": "\u00e9\U0001f600"}, "d": 17},
        {"a": [float("-inf"), '\\u00e9"', [[]], {}], "": []},
        {},
    ],
)
def test_where_the_window_ends_makes_no_difference(value: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        data = json.dumps(value, ensure_ascii=ascii_only, indent=2).encode()
        assert joined(data) == value


def test_nan_and_infinity_come_through_as_python_writes_them() -> None:
    (part,) = parts(b'{"a": [[NaN, Infinity, -Infinity]]}')
    assert [str(number) for number in part.value] == ["nan", "inf", "-inf"]
    assert part.text == "[NaN, Infinity, -Infinity]"


def test_a_byte_order_mark_is_passed_over() -> None:
    assert joined(b'\xef\xbb\xbf{"a": [1]}') == {"a": [1]}


@pytest.mark.parametrize(
    ("data", "reason", "line", "byte"),
    [
        (b"", "it is no JSON object", 1, 0),
        (b"[1, 2]", "it is no JSON object", 1, 0),
        (b'{"a": [1, 2', "it ends too early", 1, 11),
        (b'{"a": [{"b": 1}, {"b"', "it ends too early", 1, 21),
        (b'{"a": "never ends', "it ends too early", 1, 6),
        (b'{"a": [1],}', "a comma stands before a closing bracket", 1, 10),
        (b'{"a": [1,\n\n ]}', "a comma stands before a closing bracket", 3, 12),
        (b'{"a": [1 2]}', "a comma or a closing bracket is missing", 1, 9),
        (
            b'{"a": [{"b": 1 "c": 2}, {"d": 5555555}]}',
            "a comma or a closing bracket is missing",
            1,
            15,
        ),
        (b'{"a" [1]}', "a colon is missing after a name", 1, 5),
        (b"{a: [1]}", "a value is missing or is none of JSON's", 1, 1),
        (b"{5: [1]}", "a name in double quotes is missing", 1, 2),
        (b'{"a": [nope]}', "a value is missing or is none of JSON's", 1, 7),
        (b'{"a": ["x\ny"]}', "a text holds a control character", 1, 9),
        (b'{"a": [1]} {"b"', "something stands after its end", 1, 11),
        (b'{"a": [1], "a": [2]}', "a name stands twice at its top", 1, 14),
        (b'{"a": [1' + b"0" * 5000 + b"]}", "it holds a number of too many digits", 1, 7),
        ('{"a": ["\u00e9\u00e9", }'.encode(), "a value is missing or is none of JSON's", 1, 15),
        ('{"a": [1]}'.encode("utf-16"), "it is written in UTF-16, not in UTF-8", 1, 0),
        ('{"a": [1]}'.encode("utf-16-be"), "it is written in UTF-16, not in UTF-8", 1, 0),
    ],
)
def test_a_fault_has_its_line_and_byte(data: bytes, reason: str, line: int, byte: int) -> None:
    assert fault(data) == (reason, line, byte)


def test_lines_and_bytes_are_counted_over_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "WINDOW", 7)
    entries = ",\n".join('{"name": "\u00e9"}' for _ in range(50))
    data = f'{{"a": [{entries},\n!]}}'.encode()
    assert fault(data) == ("a value is missing or is none of JSON's", 51, data.index(b"!"))


def test_what_was_read_before_a_fault_is_kept() -> None:
    left = Streamed(io.BytesIO(b'{"a": [{"b": 1}, 2, [3')).parts()
    assert [next(left).value, next(left).value] == [{"b": 1}, 2]
    with pytest.raises(Malformed):
        next(left)


def test_a_byte_that_is_not_utf8_is_told_and_reading_goes_on() -> None:
    stream = Streamed(io.BytesIO(b'{"a": ["x",\n"caf\xe9", "y\xff"]}'))
    found = [part.value for part in stream.parts()]
    assert stream.bad_byte == (2, 16)
    assert found[1].encode("utf-8", errors="surrogateescape") == b"caf\xe9"


def test_a_name_that_stands_twice_in_an_entry_is_told() -> None:
    first, second = parts(b'{"a": [{"b": {"c": 1, "c": 2}}, {"b": 1}]}')
    assert (first.repeated, second.repeated) == (True, False)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": ' + b"[" * 100_000,
        b'{"a": [' + b"[" * 70 + b"]" * 70 + b"]}",
        b'{"a": [' + b'{"b":' * 2000,
    ],
)
def test_what_is_nested_too_deep_is_refused(data: bytes) -> None:
    assert fault(data)[0] == "it is nested too deep"


def test_shallow_entries_may_hold_many_lists() -> None:
    (part,) = parts(b'{"a": [[' + b",".join([b"[[1]]"] * 500) + b"]]}")
    assert len(part.value) == 500


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": ["' + b"x" * 9_500_000 + b'"]}', "one entry is longer than 8 MB"),
        (b'{"a": ["' + b"x" * 20_000_000, "one entry is longer than 8 MB"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(2000)) + b"}", "too many names"),
    ],
)
def test_what_would_take_too_much_memory_is_refused(data: bytes, reason: str) -> None:
    assert reason in fault(data)[0]


def test_memory_does_not_grow_with_the_file() -> None:
    entry = b'{"id": 1, "bbox": [1.5, 2.5, 3.5, 4.5], "name": "' + b"x" * 150 + b'"}'
    tracemalloc.start()
    try:
        peaks = []
        for count in (20_000, 80_000):
            file = io.BytesIO(b'{"a": [' + b",".join([entry] * count) + b"]}")
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            assert sum(1 for _ in Streamed(file).parts()) == count
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
