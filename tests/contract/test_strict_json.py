import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract import strict_json
from sickbay.contract.errors import BadInput

TEXT = some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(1 << 63), (1 << 63) - 1)
    | some.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, some.booleans())
def test_what_is_allowed_comes_through_unchanged(value: Any, ascii_only: bool) -> None:  # noqa: FBT001 (drawn)
    assert strict_json.loads(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(some.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(data: bytes) -> None:
    with suppress(BadInput):
        strict_json.loads(data)


@pytest.mark.parametrize(
    "data",
    [
        b"NaN",
        b"[Infinity]",
        b'{"a": -Infinity}',
        b"1e999",
        b"-1e999",
        b"9223372036854775808",
        b"-9223372036854775809",
        b"1" * 5000,
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b'["a\\u0000b"]',
        b'{"a\\u0000": 1}',
        b'{"a": 1, "a": 1}',
        b'[{"b": {"a": 1, "a": 2}}]',
        b"[" * 65 + b"]" * 65,
        b'{"a":' * 65 + b"1" + b"}" * 65,
        b"[" * 100_000,
        b"\xff",
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf1",
        b"",
        b"1 2",
        b"'a'",
        b'"a\nb"',
        b"{a: 1}",
        b"[1,]",
        b"01",
    ],
)
def test_what_another_reader_might_take_for_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        strict_json.loads(data)


@pytest.mark.parametrize("edge", [(1 << 63) - 1, -(1 << 63), 0, -0.0, 1.7976931348623157e308])
def test_the_last_allowed_numbers_are_allowed(edge: float) -> None:
    assert strict_json.loads(json.dumps(edge).encode()) == edge


def test_64_levels_are_allowed() -> None:
    assert strict_json.loads(b"[" * 64 + b"]" * 64)


def test_a_refusal_never_repeats_the_input() -> None:
    for data in (b'{"canary": canary}', b'{"canary":1,"canary":2}', b'"canary\\ud800"'):
        with pytest.raises(BadInput) as caught:
            strict_json.loads(data)
        assert "canary" not in caught.value.sentence
