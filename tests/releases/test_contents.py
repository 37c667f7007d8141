from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as some

from sickbay.releases.contents import standing_reason


def test_an_undo_brings_back_the_reason_that_stood_before() -> None:
    taken = [("1", "damaged", None), ("2", "", None), ("3", "", "2")]
    assert standing_reason(taken) == "damaged"


def test_an_undone_undo_is_as_if_nothing_had_been_undone() -> None:
    taken = [("1", "damaged", None), ("2", "copy", None), ("3", "", "2"), ("4", "", "3")]
    assert standing_reason(taken) == "copy"


@given(some.lists(some.sampled_from(["damaged", "copy", "UNDO"]), max_size=30))
def test_undoing_the_newest_acts_one_by_one_unwinds_to_what_stood_then(acts: list[str]) -> None:
    stack: list[tuple[str, str]] = []

    def taken() -> Iterator[tuple[str, str, str | None]]:
        for number, act in enumerate(acts):
            if act != "UNDO":
                stack.append((str(number), act))
                yield str(number), act, None
            elif stack:
                yield str(number), "", stack.pop()[0]

    found = standing_reason(list(taken()))
    assert found == (stack[-1][1] if stack else "")
