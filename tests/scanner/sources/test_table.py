"""CSV and TSV: rows as samples, rows that name pictures, and rows that are broken."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.pictures import jpeg, write
from tests.scanner.recorded import Recorded, codes, scanned

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner import Setup
from sickbay.scanner.sources import Found, Item, Noted, Skipped, table
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees.local import LocalTree

PICTURE = jpeg(0, (40, 40))


def walked(
    root: Path, policy: Policy | None = None, options: TableOptions | None = None
) -> list[Item]:
    return list(table.read(LocalTree(root), policy or Policy(), options).items())


def told(items: list[Item]) -> dict[str, list[str]]:
    """Codes by item, of all findings of the walk."""
    made: dict[str, list[str]] = {}
    for item in items:
        for finding in () if isinstance(item, Skipped) else item.findings:
            made.setdefault(finding.item or "", []).append(finding.code)
    return made


def rows_of(data: bytes, root: Path, policy: Policy | None = None) -> dict[str, list[str]]:
    write(root, "data.csv", data)
    return told(walked(root, policy))


def found(items: list[Item]) -> dict[str, Found]:
    return {item.raw.decode(): item for item in items if isinstance(item, Found)}


def test_each_row_of_a_table_without_paths_is_a_sample(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\nhello there you,0\n\nmore of it,1\n\n")
    items = found(walked(tmp_path))
    assert list(items) == ["data.csv#row=000000001", "data.csv#row=000000002"]
    assert [item.label for item in items.values()] == ["0", "1"]
    assert {item.kind for item in items.values()} == {"row"}


def test_a_row_is_known_by_its_own_bytes(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b'text,label\r\nhello,0\r\n"over\ntwo",1\r\nhello,0')
    records = scanned(tmp_path, layout="csv").samples
    sizes = {name: record.size for name, record in records.items()}
    assert sizes == {
        "data.csv#row=000000001": 7,
        "data.csv#row=000000002": 12,
        "data.csv#row=000000003": 7,
    }
    assert records["data.csv#row=000000001"].sha256 == records["data.csv#row=000000003"].sha256
    assert all(record.format == "CSV" and record.decoded for record in records.values())


def test_rows_sort_after_their_table_and_before_what_sorts_after_it(tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv-old", "a.csv.txt", "b.csv"):
        write(tmp_path, name, b"text\nsome words here\n")
    write(tmp_path, "a.csv!", b"")
    raws = [item.raw for item in walked(tmp_path)]
    assert raws == sorted(raws)
    assert raws == [
        b"a.csv!",
        b"a.csv#row=000000001",
        b"a.csv-old",
        b"a.csv.txt",
        b"b.csv#row=000000001",
    ]


@pytest.mark.parametrize("name", ["path", "filename", "file_name", "Image Path", "img", "whatever"])
def test_pictures_that_rows_name_are_the_samples(tmp_path: Path, name: str) -> None:
    write(tmp_path, "images/a.jpg", PICTURE)
    write(tmp_path, "images/b.jpg", PICTURE)
    write(tmp_path, "images/c.jpg", PICTURE)
    write(tmp_path, "labels.csv", f"{name},label\nimages/b.jpg,dog\na.jpg,cat\n".encode())
    items = walked(tmp_path)
    assert {name: item.label for name, item in found(items).items()} == {
        "images/a.jpg": "cat",
        "images/b.jpg": "dog",
    }
    assert [item.raw for item in items if isinstance(item, Skipped)] == [b"images/c.jpg"]


def test_a_missing_picture_is_told_at_the_row_that_names_it(tmp_path: Path) -> None:
    write(tmp_path, "images/a.jpg", PICTURE)
    write(tmp_path, "labels.csv", b"path,label\nimages/a.jpg,1\nimages/z.jpg,1\n")
    records = scanned(tmp_path, layout="csv")
    (finding,) = records.samples["images/z.jpg"].findings
    assert (finding.code, finding.file, finding.item) == ("file.missing", "labels.csv", "row 2")


def test_a_path_out_of_the_data_set_is_unsafe(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    data = b"path,label\na.jpg,1\n../b.jpg,1\n/etc/c.jpg,1\n,1\n"
    write(tmp_path, "labels.csv", data)
    records = scanned(tmp_path, layout="csv")
    findings = records.files["labels.csv"].findings
    assert [(one.code, one.item) for one in findings] == [
        ("file.unsafe-path", "row 2"),
        ("file.unsafe-path", "row 3"),
        ("file.unsafe-path", "row 4"),
    ]
    assert list(records.samples) == ["a.jpg"]


def test_a_picture_with_two_labels_has_the_first_and_a_note(tmp_path: Path) -> None:
    for name in "abcdefghij":
        write(tmp_path, f"{name}.jpg", PICTURE)
    lines = [f"{name}.jpg,cat" for name in "abcdefghij"]
    write(tmp_path, "labels.csv", "\n".join(["path,label", *lines, "a.jpg,dog"]).encode())
    item = found(walked(tmp_path))["a.jpg"]
    assert item.label == "cat"
    assert [(one.severity, one.item) for one in item.findings] == [("note", "row 11")]


def test_pictures_with_a_row_for_each_box_have_several_labels(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    write(tmp_path, "b.jpg", PICTURE)
    data = b"filename,class,xmin\na.jpg,cat,1\na.jpg,dog,2\nb.jpg,cat,1\nb.jpg,cow,3\n"
    write(tmp_path, "boxes.csv", data)
    assert told(walked(tmp_path)) == {}


@pytest.mark.parametrize(
    ("name", "split"),
    [("train.csv", "train"), ("val_labels.csv", "val"), ("test/data.tsv", "test"), ("x.csv", "")],
)
def test_splits_are_known_by_names_of_tables_and_folders(
    tmp_path: Path, name: str, split: str
) -> None:
    write(tmp_path, name, b"text\tlabel\nsome words here\t1\n")
    assert [item.split for item in found(walked(tmp_path)).values()] == [split]


def test_a_column_says_the_split(tmp_path: Path) -> None:
    write(tmp_path, "all.csv", b"text,split\nsome words here,train\nother words here,Validation\n")
    assert [item.split for item in found(walked(tmp_path)).values()] == ["train", "val"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(tmp_path: Path, delimiter: str) -> None:
    lines = [["text", "label"], ["a, b and; more", "1"], ["words | of it", "2"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(lines)
    write(tmp_path, "data.csv", out.getvalue().encode())
    assert [item.label for item in found(walked(tmp_path)).values()] == ["1", "2"]


def test_quotes_may_be_escaped_by_a_backslash(tmp_path: Path) -> None:
    data = b'text,label\n"He said \\"yes, no\\" to it",1\n"plain, text",2\n'
    assert rows_of(data, tmp_path) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"a.jpg,0\nb.jpg,1\n",
        b"path,label\na.jpg,0\nb.jpg,1\n",
        b"\xef\xbb\xbfpath,label\na.jpg,0\nb.jpg,1",
    ],
)
def test_a_header_may_be_missing_and_a_mark_may_stand_before_it(
    tmp_path: Path, data: bytes
) -> None:
    write(tmp_path, "a.jpg", PICTURE)
    write(tmp_path, "b.jpg", PICTURE)
    write(tmp_path, "labels.csv", data)
    items = walked(tmp_path)
    assert sorted(found(items)) == ["a.jpg", "b.jpg"]
    assert told(items) == {}


def test_options_count_more_than_guesses(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"a:b:c\n1:x:some words\n2:y:some others\n")
    options = TableOptions(label="b", text="c", delimiter=":")
    assert [item.label for item in found(walked(tmp_path, None, options)).values()] == ["x", "y"]


def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\nwords,1\n")
    with pytest.raises(BadInput, match="no column 'klass'; it has: 'text', 'label'"):
        walked(tmp_path, None, TableOptions(label="klass"))


def test_a_quote_that_is_never_closed_costs_its_own_row(tmp_path: Path) -> None:
    data = b'a,b\n1,x\n2,"y\n3,z\n4,w\n'
    assert rows_of(data, tmp_path) == {"row 2": ["annotation.malformed"]}
    finding = found(walked(tmp_path))["data.csv#row=000000002"].findings[0]
    assert (finding.detail["line"], finding.detail["byte"]) == (3, 8)


def test_a_quote_closed_by_a_later_row_costs_its_own_row(tmp_path: Path) -> None:
    data = b'a,b\n1,x\n2,"y\n3,"z"\n4,w\n'
    assert rows_of(data, tmp_path) == {"row 2": ["annotation.malformed"]}


def test_a_file_of_open_quotes_takes_no_longer_than_its_size_warrants(tmp_path: Path) -> None:
    data = b"a,b\n" + b'1,"x\n2,y\n' * 2_000
    told_of = rows_of(data, tmp_path)
    assert len(told_of) == 2_000


def test_the_search_for_a_closing_quote_goes_only_so_far(tmp_path: Path) -> None:
    block = b'1,"x\n' + b"2,yy\n" * 15_000
    told_of = rows_of(b"a,b\n" + block * 4, tmp_path)
    assert list(told_of.values()) == [["annotation.malformed"]] * 4


def test_rows_of_other_widths_differ_from_the_table(tmp_path: Path) -> None:
    data = b"a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3\n"
    assert rows_of(data, tmp_path) == {
        "row 2": ["annotation.schema-mismatch"],
        "row 3": ["annotation.schema-mismatch"],
    }


def test_a_header_of_another_width_is_told_once(tmp_path: Path) -> None:
    data = b"a,b\n1,2,3\n1,2,4\n1,2\n"
    assert rows_of(data, tmp_path) == {
        "": ["annotation.schema-mismatch"],
        "row 3": ["annotation.schema-mismatch"],
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "file.empty"),
        (b"\n\n", "annotation.malformed"),
        (b"text,label\n", "annotation.malformed"),
        ("text,label\nx,1\n".encode("utf-16"), "text.bad-encoding"),
        (b"text,text\nx,1\n", "annotation.schema-mismatch"),
    ],
)
def test_what_is_wrong_with_a_whole_table_is_told_of_it(
    tmp_path: Path, data: bytes, code: str
) -> None:
    write(tmp_path, "data.csv", data)
    notes = [item for item in walked(tmp_path) if isinstance(item, Noted)]
    assert [codes(item.findings) for item in notes] == [[code]]


@pytest.mark.parametrize(
    ("labels", "code", "row"),
    [
        (["0", "1", "3"], "label.out-of-range", 3),
        (["0", "-1", "2"], "label.out-of-range", 2),
        (["0", "", "2"], "label.missing", 2),
        (["0", "NaN", "2"], "label.missing", 2),
        (["0", "None", "2"], "label.missing", 2),
        (["cat", "dog", ""], "label.missing", 3),
        (["0", "cat", "2"], "label.mixed-kinds", 2),
        (["cat", "dog", "12"], "label.mixed-kinds", 3),
        ([*"01" * 10, "x"], "label.mixed-kinds", 21),
        (["0", "1.5", "2"], "label.wrong-type", 2),
        (["0.5", "inf", "2.5"], "label.malformed", 2),
        (["0", "1", "99999999999999999999"], "label.malformed", 3),
    ],
)
def test_labels_are_judged_beside_their_column(
    tmp_path: Path, labels: list[str], code: str, row: int
) -> None:
    lines = [f"some words here,{label}" for label in labels]
    policy = Policy(num_classes=3) if code == "label.out-of-range" else None
    data = "\n".join(["text,label", *lines]).encode()
    assert rows_of(data, tmp_path, policy) == {f"row {row}": [code]}


@pytest.mark.parametrize(
    "labels",
    [
        ["0", "1", "2"],
        ["a", "b", "7"],
        ["cat", "NA", "dog"],
        ["", "", ""],
        ["0.5", "1", "2.25"],
        ["3", "4.5", "4", "5", "2.5"],
    ],
)
def test_usual_labels_are_silent(tmp_path: Path, labels: list[str]) -> None:
    data = "\n".join(["text,label", *(f"some words here,{label}" for label in labels)])
    assert rows_of(data.encode(), tmp_path) == {}


def test_the_y_of_a_place_is_no_label_and_that_beside_a_text_is_one(tmp_path: Path) -> None:
    assert rows_of(b"name,x,y\none,,\ntwo,5,6\nthree,7,8.5\n", tmp_path) == {}
    data = b"x,y\nsome words here,1\nsome other words,\n"
    assert rows_of(data, tmp_path) == {"row 2": ["label.missing"]}


def test_a_name_that_is_no_class_is_unknown(tmp_path: Path) -> None:
    policy = Policy(classes=("cat", "dog"))
    data = b"text,label\nsome words here,cat\nsome other words,cow\n"
    assert rows_of(data, tmp_path, policy) == {"row 2": ["label.unknown-class"]}


def test_classes_are_the_names_of_the_labels(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\nsome words here,dog\nother words here,cat\n")
    source = table.read(LocalTree(tmp_path), Policy())
    list(source.items())
    assert source.classes == ("cat", "dog")


def held(root: Path, **options: object) -> Recorded:
    return scanned(root, layout="csv", **options)


@pytest.mark.parametrize("how", ["grown", "emptied"])
def test_a_table_that_changes_while_it_is_read_is_told(tmp_path: Path, how: str) -> None:
    write(tmp_path, "data.csv", b"text,label\n" + b"some words,1\n" * 100)
    source = table.read(LocalTree(tmp_path), Policy())
    if how == "emptied":
        write(tmp_path, "data.csv", b"")
    else:
        with (tmp_path / "data.csv").open("ab") as file:
            file.write(b"more words,2\n")
    *_, last = source.items()
    assert isinstance(last, Found)
    assert codes(last.findings) == ["file.changed"]


def test_a_table_that_cannot_be_opened_is_told_and_the_rest_is_scanned(tmp_path: Path) -> None:
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nothing")
    (tmp_path / "out.csv").symlink_to("/etc/hostname")
    (tmp_path / "dir.csv").mkdir()
    write(tmp_path, "data.csv", b"text,label\nsome words,1\n")
    items = walked(tmp_path)
    assert [item.raw for item in items if isinstance(item, Found)] == [b"data.csv#row=000000001"]
    noted = {item.raw: codes(item.findings) for item in items if isinstance(item, Noted)}
    assert noted == {b"gone.csv": ["file.missing"], b"out.csv": ["file.unsafe-path"]}


def test_texts_of_rows_are_checked(tmp_path: Path) -> None:
    rows = [b"fine words,0", b",1", b'"  ",0', b"k\xe4se,1"]
    rows += ["CafÃ© MÃ¼ller,0".encode(), b"nul\x00l,1"]
    write(tmp_path, "data.csv", b"text,label\n" + b"\n".join(rows) + b"\n")
    records = held(tmp_path).samples
    assert {name[-1]: codes(record.findings) for name, record in records.items()} == {
        "1": [],
        "2": ["text.empty"],
        "3": ["text.empty"],
        "4": ["text.bad-encoding"],
        "5": ["text.mojibake"],
        "6": ["text.control-characters"],
    }
    finding = records["data.csv#row=000000004"].findings[0]
    assert (finding.file, finding.item) == ("data.csv", "row 4")
    whole = (tmp_path / "data.csv").read_bytes()
    assert whole[finding.detail["byte"]] == 0xE4


def test_a_row_too_long_to_check_is_held_with_its_hash(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\n" + b"x" * (3 << 20) + b",0\nsome words,1\n")
    records = held(tmp_path).samples
    long, short = records["data.csv#row=000000001"], records["data.csv#row=000000002"]
    assert codes(long.findings) == ["decoder.out-of-memory"]
    assert long.size == (3 << 20) + 2
    assert long.sha256 is not None
    assert not short.held


def test_long_texts_are_found_by_the_policy(tmp_path: Path) -> None:
    write(tmp_path, "data.csv", b"text,label\nfew words,0\n" + b"word " * 20 + b",1\n")
    records = held(tmp_path, setup=Setup(policy=Policy(max_tokens=10))).samples
    assert [record.held for record in records.values()] == [False, True]


CELLS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=12
)


@given(
    rows=st.lists(
        st.tuples(CELLS, st.text("abc ,;\"'\n\t", max_size=8), st.integers(0, 9)),
        min_size=2,
        max_size=12,
    ),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    terminator=st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_standard_writer_wrote_is_read_as_it_was_and_silent(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, int]],
    quoting: int,
    terminator: str,
) -> None:
    root = tmp_path_factory.mktemp("table")
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=quoting, lineterminator=terminator)  # type: ignore[arg-type]
    writer.writerows([("note", "extra", "label"), *rows])
    write(root, "data.csv", out.getvalue().encode())
    items = walked(root, None, TableOptions(delimiter=","))
    assert told(items) == {}
    assert [item.label for item in found(items).values()] == [str(label) for _, _, label in rows]


PLAIN = st.text("abcdefgh ", min_size=1, max_size=10)


@given(
    rows=st.lists(st.tuples(PLAIN, PLAIN, st.integers(0, 9)), min_size=4, max_size=12),
    data=st.data(),
)
def test_a_corruption_of_one_row_touches_no_other(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("table")
    lines = [f'{a},"{b}",{label}'.encode() for a, b, label in rows]
    at = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[at])))
    junk = data.draw(st.sampled_from([b'"', b",", b"\xff", b'",', b',"', b"\x00", b"x"]))
    lines[at] = lines[at][:place] + junk + lines[at][place:]
    write(root, "data.csv", b"\n".join([b"note,extra,label", *lines]) + b"\n")
    items = walked(root, None, TableOptions(delimiter=","))
    assume(len(found(items)) == len(lines))
    assert set(told(items)) <= {f"row {at + 1}"}


def test_quotes_in_a_tab_separated_file_may_be_characters_like_others(tmp_path: Path) -> None:
    lines = [b"\"it 's charming\t1", b'bleak and "desperate"\t0', b'"a quote\t1', b"plain\t0"]
    write(tmp_path, "dev.tsv", b"sentence\tlabel\n" + b"\n".join(lines) + b"\n")
    records = held(tmp_path).samples
    assert [(record.label, codes(record.findings)) for record in records.values()] == [
        ("1", []),
        ("0", []),
        ("1", []),
        ("0", []),
    ]


def test_quoted_cells_of_a_tab_separated_file_may_hold_tabs_and_line_breaks(tmp_path: Path) -> None:
    write(tmp_path, "dev.tsv", b'text\tlabel\n"a\ttab"\t1\n"two\nlines"\t0\n')
    assert [item.label for item in found(walked(tmp_path)).values()] == ["1", "0"]
