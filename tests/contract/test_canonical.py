from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract import canonical
from sickbay.contract.errors import BadInput

EXACT = some.integers(1 - (1 << 53), (1 << 53) - 1)
TEXT = some.text(some.characters(exclude_categories=["Cs"]))
KEY = some.text(some.characters(max_codepoint=127), max_size=8)
VALUES = some.recursive(
    some.none() | some.booleans() | EXACT | TEXT,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(KEY, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_a_document_is_what_rfc_8785_prescribes_and_a_line_feed(value: Any) -> None:
    assert canonical.document(value) == rfc8785.dumps(value) + b"\n"


@pytest.mark.parametrize(
    "value", [1.0, float("nan"), 1 << 53, -(1 << 53), {"é": 1}, [{"a": [0.5]}], ({"a": 1.5},)]
)
def test_what_two_writers_would_write_in_two_ways_is_refused(value: Any) -> None:
    with pytest.raises(BadInput):
        canonical.document(value)
