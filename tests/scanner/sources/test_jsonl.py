"""JSON lines: lines as samples, lines that name pictures, and lines that are broken."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import jpeg, write
from tests.scanner.recorded import codes, scanned

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner.sources import Found, Item, Noted, Skipped, jsonl
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (40, 40))
ROW = {"text": "some words here", "title": "abc"}


def walked(root: Path, policy: Policy | None = None) -> list[Item]:
    return list(jsonl.read(LocalTree(root), policy or Policy()).items())


def told(items: list[Item]) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for item in items:
        for finding in () if isinstance(item, Skipped) else item.findings:
            made.setdefault(finding.item or "", []).append(finding.code)
    return made


def lines_of(lines: list[Any], root: Path, policy: Policy | None = None) -> dict[str, list[str]]:
    """Write lines, each a text as it is or a value, and return codes by item."""
    made = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    write(root, "data.jsonl", b"\n".join(made) + b"\n")
    return told(walked(root, policy))


def found(items: list[Item]) -> dict[str, Found]:
    return {item.raw.decode(): item for item in items if isinstance(item, Found)}


def test_each_line_is_a_sample_known_by_its_physical_line(tmp_path: Path) -> None:
    assert (
        lines_of([b"\xef\xbb\xbf" + json.dumps(ROW).encode(), b"", ROW, b"  ", ROW], tmp_path) == {}
    )
    records = scanned(tmp_path, layout="jsonl").samples
    assert list(records) == [f"data.jsonl#line=00000000{number}" for number in (1, 3, 5)]
    assert len({record.sha256 for record in records.values()}) == 1
    assert all(record.format == "JSONL" for record in records.values())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"text": "a", "title": ', "expecting value"),
        (b'{"text": "a", "title": NaN}', "NaN"),
        (b'{"text": "a", "text": "b", "title": "c"}', "twice"),
        (b'{"text": ' + b"[" * 70 + b"]" * 70 + b', "title": "c"}', "64 levels"),
        (b"[" * 100_000, "64 levels"),
        (b'{"text": "a", "title": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"text": "a\tb", "title": "c"}', "control character"),
        (json.dumps(ROW).encode() * 2, "extra data"),
    ],
)
def test_a_line_that_is_no_json_costs_itself_only(tmp_path: Path, line: bytes, why: str) -> None:
    assert lines_of([ROW, ROW, line, ROW, ROW], tmp_path) == {"line 3": ["annotation.malformed"]}
    finding = found(walked(tmp_path))["data.jsonl#line=000000003"].findings[0]
    assert why in finding.message
    start = len(json.dumps(ROW)) * 2 + 2
    assert start <= finding.detail["byte"] <= start + len(line)
    assert finding.detail["line"] == 3


def test_a_value_of_another_type_than_usual_is_named(tmp_path: Path) -> None:
    lines = [ROW] * 4 + [{**ROW, "title": 1984}] + [ROW] * 4
    assert lines_of(lines, tmp_path) == {"line 5": ["annotation.schema-mismatch"]}
    detail = found(walked(tmp_path))["data.jsonl#line=000000005"].findings[0].detail
    assert (detail["field"], detail["found"], detail["usual"]) == ("title", "a number", "a text")


@pytest.mark.parametrize(
    "odd", [{"text": "some words here"}, ["some words"], "some words", 3, {**ROW, "text": ["a"]}]
)
def test_a_line_unlike_the_rest_differs(tmp_path: Path, odd: Any) -> None:
    lines = [ROW, ROW, ROW, ROW, odd]
    assert lines_of(lines, tmp_path) == {"line 5": ["annotation.schema-mismatch"]}


@pytest.mark.parametrize(
    "lines",
    [
        [ROW, ROW, {**ROW, "title": None}, ROW],
        [{**ROW, "score": 1}, {**ROW, "score": 0.5}, {**ROW, "score": 2}],
        [ROW, ROW, {"text": "a"}, {"text": "a"}, ROW],
        [ROW, ROW, {**ROW, "source": "x"}, ROW],
        ["only", "texts", "here"],
    ],
)
def test_null_numbers_and_keys_that_many_lack_are_usual(tmp_path: Path, lines: list[Any]) -> None:
    assert lines_of(lines, tmp_path) == {}


def test_a_field_of_several_types_is_told_once_of_the_file(tmp_path: Path) -> None:
    lines = [ROW, {**ROW, "title": 1}] * 5
    assert lines_of(lines, tmp_path) == {"": ["annotation.schema-mismatch"]}


@pytest.mark.parametrize(
    ("labels", "code", "line"),
    [
        ([0, 1, 3], "label.out-of-range", 3),
        ([0, None, 1], "label.missing", 2),
        ([0, "1", 1], "label.wrong-type", 2),
        ([0, "cat", 1], "label.mixed-kinds", 2),
        (["cat", "dog", 5], "label.mixed-kinds", 3),
        ([0, 1, [1]], "label.wrong-type", 3),
        ([0, 1, 0.5], "label.wrong-type", 3),
    ],
)
def test_labels_are_judged_by_their_types(
    tmp_path: Path, labels: list[Any], code: str, line: int
) -> None:
    lines = [{"text": "some words here", "label": label} for label in labels]
    policy = Policy(num_classes=3) if code == "label.out-of-range" else None
    assert lines_of(lines, tmp_path, policy) == {f"line {line}": [code]}


def test_a_line_without_the_label_lacks_it(tmp_path: Path) -> None:
    lines = [{"text": "some words here", "label": 1}] * 3 + [{"text": "some words here"}]
    assert lines_of(lines, tmp_path) == {"line 4": ["label.missing"]}


def test_metadata_names_pictures_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "train/a.jpg", PICTURE)
    write(tmp_path, "train/deep/b.jpg", PICTURE)
    write(tmp_path, "test/a.jpg", PICTURE)
    rows = [{"file_name": "a.jpg", "label": "cat"}, {"file_name": "deep/b.jpg", "label": "dog"}]
    write(tmp_path, "train/metadata.jsonl", "\n".join(map(json.dumps, rows)).encode())
    write(tmp_path, "test/metadata.jsonl", json.dumps({"file_name": "z.jpg"}).encode())
    items = walked(tmp_path)
    assert {name: (one.split, one.label) for name, one in found(items).items()} == {
        "test/z.jpg": ("test", ""),
        "train/a.jpg": ("train", "cat"),
        "train/deep/b.jpg": ("train", "dog"),
    }
    assert codes(scanned(tmp_path, layout="jsonl").samples["test/z.jpg"].findings) == [
        "file.missing"
    ]


@pytest.mark.parametrize(
    "line", [json.dumps({"file_name": "../a.jpg"}).encode(), json.dumps({"file_name": 3}).encode()]
)
def test_a_line_that_names_no_picture_is_told_of_its_file(tmp_path: Path, line: bytes) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    rows = [json.dumps({"file_name": "a.jpg"}).encode()] * 4
    write(tmp_path, "metadata.jsonl", b"\n".join([*rows, line]))
    (note,) = [item for item in walked(tmp_path) if isinstance(item, Noted)]
    assert {one.item for one in note.findings} == {"line 5"}
    assert "file.unsafe-path" in codes(note.findings)


def test_conversations_are_checked(tmp_path: Path) -> None:
    user, said = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}
    chats = [
        [user, said],
        [user, {"role": "asistant", "content": "Hi"}],
        [user, {"role": "assistant", "content": " "}],
        [user, said, {"role": "user", "content": "CafÃ© MÃ¼ller"}],
    ]
    lines = [json.dumps({"messages": messages}) for messages in chats]
    write(tmp_path, "chat.jsonl", "\n".join(lines).encode())
    records = scanned(tmp_path, layout="jsonl").samples.values()
    assert [codes(record.findings) for record in records] == [
        [],
        ["annotation.schema-mismatch"],
        ["text.empty"],
        ["text.mojibake"],
    ]


def test_texts_of_lines_are_checked_wherever_they_stand(tmp_path: Path) -> None:
    lines = [
        {"text": "fine words here", "meta": {"tags": ["x"]}},
        {"text": "", "meta": {"tags": ["x"]}},
        {"text": "fine words here", "meta": {"tags": ["nul\0"]}},
    ]
    write(tmp_path, "data.jsonl", "\n".join(map(json.dumps, lines)).encode())
    records = list(scanned(tmp_path, layout="jsonl").samples.values())
    assert [codes(record.findings) for record in records] == [
        [],
        ["text.empty"],
        ["text.control-characters"],
    ]
    assert records[2].findings[0].detail["field"] == "meta"


def test_a_byte_that_is_no_utf8_costs_its_own_line(tmp_path: Path) -> None:
    write(tmp_path, "data.jsonl", b'{"text": "fine"}\n{"text": "k\xe4se"}\n{"text": "good"}\n')
    records = list(scanned(tmp_path, layout="jsonl").samples.values())
    assert [codes(record.findings) for record in records] == [[], ["text.bad-encoding"], []]
    assert records[1].findings[0].detail["byte"] == 28


def test_a_json_file_over_several_lines_is_one_finding(tmp_path: Path) -> None:
    write(tmp_path, "data.jsonl", json.dumps([ROW] * 50, indent=1).encode())
    assert told(walked(tmp_path)) == {"": ["annotation.malformed"]}


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_without_lines_is_told(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, "data.jsonl", data)
    assert len(told(walked(tmp_path))[""]) == 1


def test_a_line_too_long_to_check_is_held(tmp_path: Path) -> None:
    write(tmp_path, "data.jsonl", b'{"text": "' + b"x" * (3 << 20) + b'"}\n{"text": "fine"}\n')
    long, short = scanned(tmp_path, layout="jsonl").samples.values()
    assert codes(long.findings) == ["decoder.out-of-memory"]
    assert not short.held


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9999, 9999)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(VALUES, min_size=2, max_size=8), st.booleans())
def test_what_the_standard_writer_wrote_is_read_and_never_malformed(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[Any],
    plain: bool,  # noqa: FBT001 (drawn)
) -> None:
    root = tmp_path_factory.mktemp("lines")
    lines = [json.dumps({"extra": value, "text": "fine"}, ensure_ascii=plain) for value in values]
    write(root, "data.jsonl", "\n".join(lines).encode("utf-8"))
    items = walked(root)
    assert len(found(items)) == len(values)
    assert "annotation.malformed" not in {code for one in told(items).values() for code in one}


@given(
    st.integers(0, 7),
    st.integers(0, 40),
    st.sampled_from([b'"', b"{", b"\xff", b"}", b",", b"\x00"]),
)
def test_a_corruption_of_one_line_touches_no_other(
    tmp_path_factory: pytest.TempPathFactory, at: int, place: int, junk: bytes
) -> None:
    root = tmp_path_factory.mktemp("lines")
    lines = [json.dumps(ROW).encode()] * 8
    lines[at] = lines[at][:place] + junk + lines[at][place:]
    write(root, "data.jsonl", b"\n".join(lines))
    assert set(told(walked(root))) <= {f"line {at + 1}"}


def test_conversations_about_pictures_are_samples_beside_their_pictures(tmp_path: Path) -> None:
    write(tmp_path, "images/a.jpg", PICTURE)
    write(tmp_path, "images/b.jpg", PICTURE)
    chat = [{"from": "human", "value": "<image>"}, {"from": "gpt", "value": "A cat"}]
    rows = [{"image": name, "conversations": chat} for name in ("a.jpg", "z.jpg", "../x.jpg")]
    write(tmp_path, "chat.jsonl", "\n".join(map(json.dumps, rows)).encode())
    items = walked(tmp_path)
    assert list(found(items)) == [
        *(f"chat.jsonl#line=00000000{number}" for number in (1, 2, 3)),
        "images/a.jpg",
    ]
    assert told(items) == {"line 2": ["file.missing"], "line 3": ["file.unsafe-path"]}
    assert [item.raw for item in items if isinstance(item, Skipped)] == [b"images/b.jpg"]


def test_a_conversation_among_those_about_pictures_needs_none(tmp_path: Path) -> None:
    chat = [{"from": "human", "value": "What is it?"}, {"from": "gpt", "value": "A tree."}]
    write(tmp_path, "a.jpg", jpeg(1))
    lines = [{"image": "a.jpg", "conversations": chat} for _ in range(4)]
    assert lines_of([*lines, {"conversations": chat}], tmp_path) == {}


def test_a_file_of_broken_lines_is_told_line_by_line(tmp_path: Path) -> None:
    lines = [b'{"text":' + b"[" * 200_000] * 5
    codes_ = lines_of(lines, tmp_path)
    assert codes_ == {f"line {number}": ["annotation.malformed"] for number in range(1, 6)}


def test_a_key_that_is_not_there_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "data.jsonl", json.dumps(ROW).encode())
    with pytest.raises(BadInput, match="no column 'klass'; it has: 'text', 'title'"):
        jsonl.read(LocalTree(tmp_path), Policy(), TableOptions(label="klass"))


def test_half_of_a_surrogate_pair_is_text_that_cannot_be_encoded(tmp_path: Path) -> None:
    line = b'{"text": "\\ud800", "title": "c"}'
    assert lines_of([ROW, ROW, line, ROW, ROW], tmp_path) == {"line 3": ["text.bad-encoding"]}
