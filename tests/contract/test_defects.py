"""The catalogue: what people read of each code."""

import re

import pytest

from sickbay.contract.defects import DEFECTS, Defect, Severity, defect
from sickbay.contract.errors import BadInput

# What would stop or poison a training run, by whole families.
BLOCKING = ("annotation", "label", "box", "decoder", "training")
NOT_BLOCKING = {
    "file.name-collision",
    "image.unsupported",
    "text.mojibake",
    "text.control-characters",
    "text.duplicate",
    "array.duplicate",
    "array.trailing-data",
}
BLOCKING_ELSEWHERE = {
    "image.undecodable",
    "image.truncated",
    "image.damaged",
    "image.bomb",
    "set.split-leak",
}


@pytest.mark.parametrize("one", DEFECTS.values(), ids=DEFECTS)
def test_every_code_has_a_meaning_and_an_advice_in_one_sentence_each(one: Defect) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*", one.code)
    for words in (one.meaning, one.advice):
        assert words[0].isupper()
        assert words.endswith(".")
        assert "\n" not in words
        assert len(words) <= 100


def test_what_stops_or_poisons_a_run_blocks_and_what_is_only_unusual_does_not() -> None:
    for code, one in DEFECTS.items():
        blocks = (
            one.family in BLOCKING
            or code in BLOCKING_ELSEWHERE
            or (one.family in {"file", "text", "array"} and code not in NOT_BLOCKING)
        )
        assert (one.severity is Severity.BLOCK) is blocks, code


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(BadInput, match="`sickbay codes` lists them"):
        defect("image.grey")
