"""Texts of rows beside pictures, rows that lack a text, and names that are not UTF-8."""

import json
from pathlib import Path

import pytest
from tests.pictures import jpeg, write
from tests.scanner.recorded import Recorded, scanned

from sickbay.contract.finding import to_line

PLAIN = {"text": "some words here", "title": "abc"}


def pictures(root: Path, count: int = 4) -> None:
    for number in range(1, count + 1):
        write(root, f"images/{number}.jpg", jpeg(number, (40, 40)))


def told(made: Recorded) -> dict[str, list[str]]:
    """Codes that block, by item."""
    found: dict[str, list[str]] = {}
    every = [one for record in made.samples.values() for one in record.findings]
    every += [one for record in made.files.values() for one in record.findings]
    for finding in every:
        if finding.severity == "block":
            found.setdefault(finding.item or "", []).append(finding.code)
    return found


def test_a_class_whose_name_is_not_utf_8_is_a_finding_and_ends_no_scan(tmp_path: Path) -> None:
    pictures(tmp_path)
    rows = b"images/1.jpg,caf\xe9\nimages/2.jpg,tea\nimages/3.jpg,tea\n"
    write(tmp_path, "labels.csv", b"path,label\n" + rows)
    made = scanned(tmp_path, layout="csv")
    assert told(made) == {"row 1": ["text.bad-encoding"]}
    assert made.header_record is not None
    assert to_line(made.header_record)
    assert to_line(made.totals)
    assert all(to_line(record) for record in made.samples.values())


def test_a_text_row_whose_class_is_not_utf_8_ends_no_scan(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\nhello you,caf\xe9\nmore here,tea\nthe end,tea\n")
    assert told(scanned(tmp_path, layout="csv")) == {"row 1": ["text.bad-encoding"]}


def test_a_header_that_is_not_utf_8_is_said_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,gr\xf6sse\nhello you,1\nmore here,2\n")
    assert told(scanned(tmp_path, layout="csv")) == {"": ["text.bad-encoding"]}


def test_a_blank_caption_beside_a_picture_is_an_empty_text(tmp_path: Path) -> None:
    pictures(tmp_path)
    write(tmp_path, "c.csv", b"image,caption\n1.jpg,a cat\n2.jpg,\n3.jpg,\xe2\x80\x8b\n4.jpg,x y\n")
    made = scanned(tmp_path, layout="csv")
    assert told(made) == {"row 2": ["text.empty"], "row 3": ["text.empty"]}


def test_blank_remarks_beside_labels_are_no_fault(tmp_path: Path) -> None:
    pictures(tmp_path)
    write(tmp_path, "l.csv", b"image,label,text,comment\n1.jpg,0,,\n2.jpg,1,,dark\n3.jpg,1,,\n")
    assert told(scanned(tmp_path, layout="csv")) == {}


def lines(root: Path, *values: object) -> dict[str, list[str]]:
    data = "".join(json.dumps(value) + "\n" for value in values)
    write(root, "data.jsonl", data.encode())
    return told(scanned(root, layout="jsonl"))


def test_captions_in_metadata_are_checked_as_well(tmp_path: Path) -> None:
    pictures(tmp_path)
    names = [{"file_name": f"images/{number}.jpg"} for number in (1, 2, 3, 4)]
    texts: list[dict[str, str | None]] = [
        {"text": "a b"},
        {"text": " "},
        {"text": None},
        {"text": "c d"},
    ]
    found = lines(tmp_path, *({**text, **name} for name, text in zip(names, texts, strict=True)))
    assert found == {"line 2": ["text.empty"], "line 3": ["text.empty"]}


@pytest.mark.parametrize("key", ["text", "output", "chosen", "rejected", "caption"])
def test_null_where_others_have_their_text_is_an_empty_text(tmp_path: Path, key: str) -> None:
    rows = [{key: "a b"}, {key: None}, {key: "c d"}]
    assert lines(tmp_path, *rows) == {"line 2": ["text.empty"]}


def test_null_is_right_where_a_text_is_optional(tmp_path: Path) -> None:
    rows = [PLAIN, {**PLAIN, "text": "more", "title": None}, {**PLAIN, "text": "again"}]
    assert lines(tmp_path, *rows) == {}


def test_null_is_right_where_most_lines_have_none(tmp_path: Path) -> None:
    rows = [{"text": "a b", "answer": 1, "prompt": None} for _ in range(3)]
    assert lines(tmp_path, *({**row, "text": f"{n} x"} for n, row in enumerate(rows))) == {}


def test_a_line_of_three_without_the_text_is_told(tmp_path: Path) -> None:
    rows = [{"text": "a b"}, {"txt": "c d"}, {"text": "e f"}]
    assert lines(tmp_path, *rows) == {"line 2": ["annotation.schema-mismatch"]}


@pytest.mark.parametrize("odd", [5, ["a", "b"], {"a": "b"}, True])
def test_one_value_of_another_type_is_told_in_a_short_file(tmp_path: Path, odd: object) -> None:
    rows = [{"text": "a b"}, {"text": odd}, {"text": "e f"}]
    assert lines(tmp_path, *rows) == {"line 2": ["annotation.schema-mismatch"]}


def test_a_conversation_that_is_a_text_among_lists_is_told(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yo"}]
    other = [{"from": "human", "value": "what"}, {"from": "gpt", "value": "that"}]
    rows = [{"conversations": said}, {"conversations": "hello"}, {"conversations": other}]
    assert lines(tmp_path, *rows) == {"line 2": ["annotation.schema-mismatch"]}
