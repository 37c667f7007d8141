"""Findings are cut to what a person reads, and nothing gets through by that."""

from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.scanner.checks.most import MOST, bounded


def finding(code: str, number: int = 0) -> Finding:
    return Finding.of(code, "a.json", f"Number {number}.", f"annotation {number}")


def test_few_findings_stay_as_they_are() -> None:
    few = [finding("box.outside", number) for number in range(MOST)]
    assert list(bounded(few)) == few


def test_the_last_says_how_many_were_left_out_of_each_code() -> None:
    many = [finding("box.outside", number) for number in range(MOST + 3)]
    *_, last = bounded([*many, finding("image.dark")])
    assert (last.code, last.item) == ("box.outside", None)
    assert last.message == "4 more findings are not listed here."
    assert last.detail == {"left_out": {"box.outside": 3, "image.dark": 1}}


def test_one_that_is_left_out_is_named_in_the_singular() -> None:
    *_, last = bounded([finding("box.outside")] * 2, most=1)
    assert last.message == "1 more finding is not listed here."


@given(st.lists(st.sampled_from(["image.dark", "text.mojibake", "box.outside"])), st.integers(0, 5))
def test_the_worst_severity_is_never_lost(codes: list[str], most: int) -> None:
    given_findings = [finding(code) for code in codes]
    kept = list(bounded(given_findings, most))
    assert len(kept) <= most + 1
    assert _worst(kept) == _worst(given_findings)


def _worst(findings: list[Finding]) -> int:
    return min((one.severity.rank for one in findings), default=len(Severity))
