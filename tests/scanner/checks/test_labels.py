"""Class numbers and names: which are allowed, and how it is said."""

import pytest

from sickbay.contract.policy import Policy
from sickbay.scanner.checks.labels import (
    Classes,
    missing,
    not_a_number,
    out_of_range,
    unknown,
    whole_number,
)
from sickbay.scanner.task import Setup


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("3.0", 3),
        ("+3.", 3),
        ("-1", -1),
        ("1.5", None),
        ("1e3", None),
        ("x", None),
        ("", None),
    ],
)
def test_a_class_number_is_whole(text: str, number: int | None) -> None:
    assert whole_number(text) == number
    assert (not_a_number(text, "a.txt", None) is None) == (number is not None)


def test_a_number_of_thousands_of_digits_is_no_class() -> None:
    finding = not_a_number("9" * 100_000, "a.txt", "line 1")
    assert finding is not None
    assert len(finding.message) < 150
    assert "of at most 18 digits" in finding.message


@pytest.mark.parametrize(
    ("number", "count", "said"),
    [
        (0, None, None),
        (10**9, None, None),
        (1, 2, None),
        (2, 2, "The class is 2; there are 2 classes, 0 to 1."),
        (1, 1, "The class is 1; the only one is 0."),
        (-1, None, "The class is -1; classes are counted from 0."),
    ],
)
def test_a_class_number_is_from_nought_to_one_less_than_the_classes(
    number: int, count: int | None, said: str | None
) -> None:
    finding = out_of_range(number, Classes(count=count), "a.txt", "line 1")
    assert (None if finding is None else finding.message) == said


def test_a_class_has_a_name_that_is_known() -> None:
    classes = Classes(("cat", "dog"), 2)
    assert unknown("cat", classes, "a.xml", None) is None
    assert unknown("cow", Classes(), "a.xml", None) is None
    finding = unknown("c\x1bow" + "w" * 100, classes, "a.xml", None)
    assert finding is not None
    assert "c?oww" in finding.message
    assert "…" in finding.message


@pytest.mark.parametrize("name", [None, "", " \n"])
def test_a_class_is_not_blank(name: str | None) -> None:
    finding = missing(name, "a.xml", "object 1")
    assert finding is not None
    assert finding.code == "label.missing"


def test_the_policys_classes_go_before_the_layouts() -> None:
    assert Classes.of(Setup(classes=("a", "b"))) == Classes(("a", "b"), 2)
    assert Classes.of(Setup(classes=("a", "b"), policy=Policy(num_classes=5))).count == 5
    named = Setup(classes=("a", "b"), policy=Policy(classes=("c",)))
    assert Classes.of(named) == Classes(("c",), 1)
    assert Classes.of(Setup()) == Classes((), None)
    assert [Classes(("a",)).shown(number) for number in (0, 1, -1)] == ["a", "1", "-1"]
