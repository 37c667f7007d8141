"""YOLO label files: which rows are labels, and what is said of those that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import jpeg, picture
from tests.scanner.beside import Checked, checked

from sickbay.contract.policy import Policy
from sickbay.scanner.examine.sidecar import MAX_BYTES, MAX_MARKS
from sickbay.scanner.task import Setup

TWO = Setup(policy=Policy(num_classes=2))


def read(text: str | bytes, setup: Setup | None = None, points: list[int] | None = None) -> Checked:
    data = text.encode() if isinstance(text, str) else text
    return checked("yolo", data, setup=setup, given=points and {"keypoints": points})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "0 0.5 0.5 0.2 0.2",
        "0.0 0.5 0.5 0.2 0.2\n1 0.5 0.5 1 1\n",
        "0\t0.5\t0.5\t0.2\t0.2\r\n1 0.5 0.5 0.1 0.1\r\n",
        "0 0.5 0.5 0.2 0.2\r1 0.5 0.5 0.1 0.1\r",
        "\ufeff0 0.5 0.5 0.2 0.2\n",
        "0 .5 5e-1 0.2 0.2   \n\n\n",
        "1 0.2 0.2 0.4 0.2 0.3 0.5\n",
        "1 0.1 0.1 0.4 0.1 0.4 0.5 0.1 0.5\n",
        "4 0.3040172 0.5002812 0.6080345 1.0004374\n",
    ],
)
def test_what_trainers_read_is_not_flagged(text: str) -> None:
    assert read(text).all_codes == []


def test_a_picture_without_a_label_file_is_background() -> None:
    made = checked("yolo", None)
    assert made.all_codes == []
    assert made.examined.labels == ()


@pytest.mark.parametrize(
    ("row", "code", "said"),
    [
        ("0,0.29,0.18,0.06,0.17", "label.malformed", "separated by commas"),
        ("0, 0.29, 0.18, 0.06, 0.17", "label.malformed", "no number"),
        ("0 0.5 0.5 0.2", "label.malformed", "4 columns"),
        ("0", "label.malformed", "1 column;"),
        ("0 0.5 0.5 0.2 0.2 0.9", "label.malformed", "6 columns"),
        ("0 0.1 0.1 0.4 0.1 0.4 0.5 0.1", "label.malformed", "8 columns"),
        ("0 0.5 half 0.2 0.2", "label.malformed", "'half' is no number"),
        ("0 0.5 \x1b[31m 0.2 0.2", "label.malformed", "\\x1b"),
        ("1.5 0.5 0.5 0.2 0.2", "label.wrong-type", "'1.5'"),
        ("dog 0.5 0.5 0.2 0.2", "label.wrong-type", "'dog'"),
        ("nan 0.5 0.5 0.2 0.2", "label.wrong-type", "'nan'"),
        ("-1 0.5 0.5 0.2 0.2", "label.out-of-range", "-1"),
        ("2 0.5 0.5 0.2 0.2", "label.out-of-range", "there are 2 classes, 0 to 1"),
        ("0 0.5 0.5 0 0.2", "box.not-positive", "0 pixels wide"),
        ("0 0.5 0.5 -0.1 0.2", "box.not-positive", "wide"),
        ("0 nan 0.5 0.2 0.2", "box.not-finite", "NaN"),
        ("0 0.5 inf 0.2 0.2", "box.not-finite", "Infinity"),
        ("0 -0.02 0.5 0.2 0.2", "box.outside", "on the left"),
        ("1 0.9 0.5 0.5 0.2", "box.outside", "on the right"),
        ("0 80 60 20 20", "box.outside", "Its numbers are pixels"),
        ("0 10 10 50 10 30 60", "box.outside", "Its numbers are pixels"),
        ("0 800 600 20 20", "box.outside", "out of the picture"),
        ("0 0.2 0.2 0.4 0.2 0.3 1.5", "annotation.bad-polygon", "out of the picture"),
        ("0 0.2 0.2 0.4 0.2 nan 0.5", "annotation.bad-polygon", "NaN"),
        ("0 0.2 0.2 0.3 0.3 0.4 0.4", "annotation.bad-polygon", "no area"),
    ],
)
def test_a_row_that_breaks_training_is_found_at_its_line(row: str, code: str, said: str) -> None:
    made = read(f"\n\n{row}\n", TWO)
    assert made.codes("line 3") == [code]
    assert said in made.found["line 3"][0].message
    assert set(made.found) == {"line 3"}


def test_a_malformed_row_is_shown() -> None:
    finding = read("0,1,\x07\n").found["line 1"][0]
    assert finding.detail["excerpt"] == "0,1,\\x07"


def test_repeats_are_found_but_not_the_first_copy_nor_another_class() -> None:
    made = read("0 0.5 0.5 0.2 0.2\n0 0.5 0.5 0.2 0.2\n0.0 0.50 0.5 0.2 0.2\n1 0.5 0.5 0.2 0.2\n")
    assert set(made.found) == {"line 2", "line 3"}
    assert made.codes("line 2") == made.codes("line 3") == ["box.duplicate"]


def test_boxes_among_polygons_are_told_once() -> None:
    made = read("0 0.2 0.2 0.4 0.2 0.3 0.5\n0 0.5 0.5 0.2 0.2\n1 0.5 0.5 0.2 0.2\n")
    assert made.codes("line 2") == ["label.mixed-kinds"]
    assert len(made.all_codes) == 1


def test_a_box_is_told_in_pixels() -> None:
    finding = read("0 1 0.5 0.5 0.5\n").found["line 1"][0]
    assert finding.detail["box"] == [120.0, 30.0, 80.0, 60.0]


def test_tolerance_is_in_pixels_of_the_picture() -> None:
    row = "0 0.5 0.5 1.1 0.5\n"  # 8 pixels of 160 on either side
    assert read(row).codes("line 1") == ["box.outside"]
    assert read(row, Setup(policy=Policy(box_tolerance=8.0))).all_codes == []


def test_shares_are_of_the_picture_as_viewers_turn_it() -> None:
    exif = picture(0, (160, 120)).getexif()
    exif[0x0112] = 6
    turned = jpeg(0, (160, 120), exif=exif)
    made = checked("yolo", b"0 0.5 1 0.5 0.5\n", picture=turned)
    assert made.found["line 1"][0].detail["box"] == [30.0, 120.0, 60.0, 80.0]
    assert checked("yolo", b"0 0.5 0.5 1 1\n", picture=turned).all_codes == ["image.exif-rotated"]


def test_classes_are_those_of_the_policy_else_of_the_layout() -> None:
    row = "2 0.5 0.5 0.2 0.2\n"
    assert read(row).all_codes == []
    assert read(row, Setup(classes=("cat", "dog"))).all_codes == ["label.out-of-range"]
    assert read(row, Setup(classes=("cat", "dog"), policy=Policy(num_classes=3))).all_codes == []
    assert read(row, Setup(policy=Policy(classes=("a", "b", "c")))).examined.labels == ("c",)


def test_every_object_counts_for_its_class() -> None:
    text = "0 0.5 0.5 0.2 0.2\n1 0.5 0.5 0.2 0.2\n0 0.5 0.5 0.1 0.1\n7 0.5 0.5 0.1 0.1\n"
    assert read(text, Setup(classes=("cat", "dog"))).examined.labels == ("cat", "dog", "cat")


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        ("0 0.5 0.5 0.2 0.2 0.4 0.4 2 0 0 0", []),
        ("0 0.5 0.5 0.2 0.2 0.4 0.4 2", ["label.malformed"]),
        ("0 0.5 0.5 0.2 0.2", ["label.malformed"]),
        ("0 0.5 0.5 0.2 0.2 0.4 0.4 2 0.4 1.4 1", ["box.outside"]),
        ("0 0.5 0.5 0.2 0.2 0.4 0.4 3 0 0 0", ["annotation.malformed"]),
    ],
)
def test_rows_with_keypoints_have_them_all(row: str, codes: list[str]) -> None:
    assert read(row, points=[2, 3]).codes("line 1") == codes


def test_keypoints_may_lack_visibility() -> None:
    assert read("0 0.5 0.5 0.2 0.2 0.4 0.4 0 0\n", points=[2, 2]).all_codes == []
    assert read("0 0.5 0.5 0.2 0.2 0.4 1.4 0 0\n", points=[2, 2]).codes("line 1") == ["box.outside"]


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [
        (b"0 0.5 0.5 0.2 0.2\n0 0.5 \xe9 0.2 0.2\n", 2, 24),
        (b"0 0.5 0.5 0.2 0.2\n" + bytes(50), 2, 18),
        ("0 0.5 0.5 0.2 0.2\n".encode("utf-16"), 1, 0),
    ],
)
def test_what_is_no_text_is_malformed_with_line_and_byte(data: bytes, line: int, byte: int) -> None:
    made = read(data)
    assert made.all_codes == ["annotation.malformed"]
    assert made.found[None][0].detail == {"line": line, "byte": byte}


def test_a_file_larger_than_any_picture_needs_is_not_parsed() -> None:
    made = read(b"0 0.5 0.5 0.2 0.2\n" * (MAX_BYTES // 18 + 1))
    assert made.all_codes == ["annotation.malformed"]


def test_one_endless_line_is_one_finding() -> None:
    for data in (b"0 " * 400_000, b"0.123456 " * 1_000_000):
        assert read(data).codes("line 1") == ["label.malformed"]


def test_too_many_objects_are_one_finding_and_the_rest_is_checked() -> None:
    rows = "".join(f"0 0.5 {number / MAX_MARKS / 2 + 0.2} 0.2 0.2\n" for number in range(MAX_MARKS))
    made = read(rows + "0 0.5 0.5 0.2 0.2\n" * 3)
    assert "more than 100,000 objects" in made.found[None][0].message


def test_of_many_faults_two_hundred_are_told() -> None:
    made = read("0,\n" * 1000)
    assert len(made.all_codes) == 201
    assert made.found[None][0].message == "800 more findings are not listed here."


def test_faults_of_the_label_file_are_told_even_where_the_picture_is_empty() -> None:
    made = checked("yolo", b"0,\n", picture=b"")
    assert made.all_codes == ["file.empty", "label.malformed"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.floats(0.2, 0.8),
            st.floats(0.2, 0.8),
            st.floats(0.05, 0.4),
            st.floats(0.05, 0.4),
        ),
        max_size=8,
        unique_by=lambda row: (row[0], round(row[1] * 20), round(row[2] * 20)),
    )
)
def test_boxes_within_the_picture_are_sound(
    rows: list[tuple[int, float, float, float, float]],
) -> None:
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    found = read(text)
    assert found.all_codes == []
    assert found.examined.labels == tuple(str(row[0]) for row in rows)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    read(data)


SEEN = "0 0.5 0.5 0.2 0.2 0.5 0.5 2 0.4 0.4 1 0 0 0"


@pytest.mark.parametrize(
    "text", [SEEN, f"{SEEN} 0.5 0.6 0\n{SEEN} 0.6 0.6 2\n", SEEN + "\n\n" + SEEN[:-1] + "1"]
)
def test_keypoints_are_known_by_their_visibility_without_a_description(text: str) -> None:
    assert read(text).all_codes == []


def test_keypoints_without_a_description_are_checked() -> None:
    assert read(SEEN.replace("0.4 0.4 1", "1.9 0.4 1")).codes("line 1") == ["box.outside"]


@pytest.mark.parametrize(
    "row",
    [
        "0 0.1 0.1 1 0.1 1 1 0.1 1 0 1",  # a polygon along the edges
        "0 0.5 0.5 0.2 0.2 0.9 0.5 0.4",
        "0 0.5 0.5 0.2 0.2 0.5",
    ],
)
def test_other_rows_are_not_taken_for_keypoints(row: str) -> None:
    wrong = [] if len(row.split()) % 2 else ["label.malformed"]
    assert read(row).codes("line 1") == wrong
