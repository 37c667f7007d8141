import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sickbay.contract.defects import Severity, defect
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import (
    MAX_LABELS,
    MAX_MESSAGE,
    Depth,
    FileRecord,
    Finding,
    Record,
    SampleRecord,
    ScanRecord,
    SummaryRecord,
    to_line,
)
from sickbay.contract.paths import SamplePath, leaves_root
from sickbay.contract.policy import Policy
from sickbay.contract.read_record import from_line

CODES = ["file.empty", "image.truncated", "image.duplicate", "set.split-leak", "decoder.crashed"]
ANY = some.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = some.text(ANY, max_size=20)
LABEL = some.text(some.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
COUNT = some.integers(0, (1 << 63) - 1)
PATHS = some.binary(min_size=1, max_size=30).filter(lambda raw: not leaves_root(raw))
DETAIL = some.dictionaries(TEXT, some.integers(-5, 5) | TEXT | some.none(), max_size=3)


@some.composite
def findings(draw: some.DrawFn) -> Finding:
    return Finding(
        code=draw(some.sampled_from(CODES)),
        severity=draw(some.sampled_from(Severity)),
        file=draw(TEXT),
        item=draw(some.none() | TEXT),
        message=draw(TEXT),
        detail=draw(DETAIL),
    )


FINDINGS = some.lists(findings(), max_size=3).map(tuple)


@some.composite
def samples(draw: some.DrawFn) -> SampleRecord:
    return SampleRecord(
        path=SamplePath(draw(PATHS)),
        split=draw(LABEL),
        label=draw(LABEL),
        size=draw(some.none() | COUNT),
        mtime_ns=draw(some.none() | some.integers(-(1 << 63), (1 << 63) - 1)),
        sha256=draw(some.none() | some.binary(min_size=32, max_size=32).map(bytes.hex)),
        width=draw(some.none() | COUNT),
        height=draw(some.none() | COUNT),
        format=draw(some.none() | TEXT),
        mode=draw(some.none() | TEXT),
        findings=draw(FINDINGS),
        decoded=draw(some.booleans()),
    )


LABEL_COUNTS = some.dictionaries(LABEL, COUNT, max_size=3)


@some.composite
def summaries(draw: some.DrawFn) -> SummaryRecord:
    clean, held, skipped = (draw(some.integers(0, 1000)) for _ in range(3))
    counts = some.dictionaries(TEXT, some.integers(0, 9), max_size=3)
    return SummaryRecord(
        clean + held + skipped,
        clean,
        held,
        skipped,
        draw(counts),
        draw(counts),
        labels=draw(some.dictionaries(LABEL, LABEL_COUNTS, max_size=3)),
        findings=draw(FINDINGS),
    )


RECORDS = (
    samples()
    | summaries()
    | some.builds(
        ScanRecord,
        dataset=TEXT,
        layout=TEXT,
        classes=some.lists(TEXT, max_size=3).map(tuple),
        policy=some.just(Policy().to_json()) | some.just({}),
        depth=some.sampled_from(Depth),
        records=some.just(2),
    )
    | some.builds(FileRecord, path=PATHS.map(SamplePath), findings=FINDINGS)
)


@given(RECORDS)
def test_a_record_survives_its_line(record: Record) -> None:
    line = to_line(record)
    assert from_line(line) == record
    assert line.count(b"\n") == 1


@given(RECORDS)
def test_a_line_is_json_with_sorted_keys_and_no_spaces(record: Record) -> None:
    text = to_line(record).decode()
    again = json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert text == again + "\n"


@given(some.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(line: bytes) -> None:
    with pytest.raises(BadInput):
        from_line(line)


def a_sample() -> dict[str, Any]:
    finding = Finding.of("image.truncated", "a.jpg", "Cut off.", at=3)
    facts = {"split": "", "label": "", "size": 3, "mtime_ns": 0, "sha256": "ab" * 32}
    shape: dict[str, Any] = {"width": 1, "height": 1, "format": "JPEG", "mode": "RGB"}
    record = SampleRecord(SamplePath(b"a.jpg"), findings=(finding,), **facts, **shape)  # type: ignore[arg-type]
    value: dict[str, Any] = json.loads(to_line(record))
    return value


ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "no kind": lambda value: value.pop("kind"),
    "another kind": lambda value: value.update(kind="other"),
    "a kind that cannot be a key": lambda value: value.update(kind=[]),
    "an unknown field": lambda value: value.update(host="here"),
    "a missing field": lambda value: value.pop("mode"),
    "a path out of the root": lambda value: value.update(path="../a.jpg"),
    "a path that is no text": lambda value: value.update(path=1),
    "bytes that are no text": lambda value: value.update(path_bytes=1),
    "bytes that are no base64": lambda value: value.update(path_bytes="é"),
    "a negative size": lambda value: value.update(size=-1),
    "a truth value for a size": lambda value: value.update(size=True),
    "a short digest": lambda value: value.update(sha256="ab"),
    "a split with a line break": lambda value: value.update(split="a\nb"),
    "held against its findings": lambda value: value.update(held=False),
    "decoded as a number": lambda value: value.update(decoded=1),
    "held as a number": lambda value: value.update(held=1),
    "findings that are no list": lambda value: value.update(findings={}),
    "a finding that is no object": lambda value: value.update(findings=[1]),
    "a finding of an unknown code": lambda value: value["findings"][0].update(code="image.odd"),
    "a finding of another severity": lambda value: value["findings"][0].update(severity="bad"),
    "a finding with a long message": lambda value: value["findings"][0].update(message="x" * 501),
    "a finding with a large detail": lambda value: value["findings"][0].update(
        detail={"x": "y" * 9000}
    ),
    "a finding with an item that is a number": lambda value: value["findings"][0].update(item=1),
    "a finding with an unknown field": lambda value: value["findings"][0].update(rank=1),
    "a finding that lacks a field": lambda value: value["findings"][0].pop("file"),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_sample_record_with_something_odd_is_refused(
    odd: Callable[[dict[str, Any]], object],
) -> None:
    value = a_sample()
    odd(value)
    with pytest.raises(BadInput):
        from_line(json.dumps(value).encode())


@pytest.mark.parametrize(
    "summary",
    [
        {"found": 3, "clean": 1, "held": 1, "skipped": 0},
        {"found": 0, "clean": -1, "held": 1, "skipped": 0},
        {"found": None, "clean": 0, "held": 0, "skipped": 0},
        {"found": 0, "clean": 0, "held": 0},
    ],
)
def test_a_summary_that_does_not_add_up_is_refused(summary: dict[str, Any]) -> None:
    rest = {"kind": "summary", "reasons": {}, "codes": {}, "labels": {}, "findings": []}
    value = rest | summary
    with pytest.raises(BadInput):
        from_line(json.dumps(value).encode())


def test_records_of_another_version_are_refused() -> None:
    line = to_line(ScanRecord("animals", "imagefolder", ("cat",), records=1))
    with pytest.raises(BadInput, match="update the older side"):
        from_line(line)


def test_a_header_with_a_policy_or_depth_that_is_none_is_refused() -> None:
    value = json.loads(to_line(ScanRecord("animals", "imagefolder", ())))
    odds: list[dict[str, Any]] = [
        {"policy": {"min_side": -1}},
        {"policy": []},
        {"depth": "deep"},
        {"depth": []},
    ]
    for odd in odds:
        with pytest.raises(BadInput):
            from_line(json.dumps(value | odd).encode())


def test_a_summary_counts_a_bounded_number_of_labels() -> None:
    def line(number: int) -> bytes:
        labels = {"train": {f"{label}": 1 for label in range(number)}}
        return to_line(SummaryRecord(0, 0, 0, 0, labels=labels))

    from_line(line(MAX_LABELS))
    with pytest.raises(BadInput, match="more than 10,000 labels"):
        from_line(line(MAX_LABELS + 1))


def test_a_finding_made_by_its_code_has_the_severity_of_the_catalogue() -> None:
    for code in CODES:
        assert Finding.of(code, "a", "b").severity is defect(code).severity
    assert len(Finding.of("file.empty", "a", "m" * 999).message) == MAX_MESSAGE
