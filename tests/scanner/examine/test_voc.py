"""Pascal VOC files: which objects are sound, and what is said of hostile documents."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pictures import jpeg, picture
from tests.scanner.beside import PICTURE, Checked, checked

from sickbay.contract.defects import Severity
from sickbay.contract.policy import Policy
from sickbay.scanner.task import Setup

NAMES = ("JPEGImages/a.jpg", "Annotations/a.xml")
SIZE = "<size><width>160</width><height>120</height><depth>3</depth></size>"


def boxed(*corners: object, name: str | None = "cat", more: str = "") -> str:
    values = zip(("xmin", "ymin", "xmax", "ymax"), corners, strict=False)
    box = "".join(f"<{tag}>{value}</{tag}>" for tag, value in values)
    said = "" if name is None else f"<name>{name}</name>"
    return f"<object>{said}{more}<bndbox>{box}</bndbox></object>"


def document(*objects: str, size: str = SIZE, filename: str = "a.jpg") -> bytes:
    inner = "".join(objects)
    return f"<annotation><filename>{filename}</filename>{size}{inner}</annotation>".encode()


def read(data: bytes, setup: Setup | None = None, image: bytes = PICTURE) -> Checked:
    return checked("voc", data, setup=setup, picture=image, names=NAMES)


@pytest.mark.parametrize(
    "corners",
    [
        (1, 1, 160, 120),
        (0, 0, 160, 120),
        (0, 0, 159, 119),
        (49.6576, 20.25, 90.5, 70.75),
        (" 10\n", "10", "5e1", "60"),
        (1, 1, 161, 120.9),
    ],
)
def test_boxes_counted_from_one_or_from_nought_are_sound(corners: Sequence[object]) -> None:
    assert read(document(boxed(*corners))).all_codes == []


@pytest.mark.parametrize(
    ("objects", "code", "said"),
    [
        (boxed(139, 54, 102, 87), "box.not-positive", "-37 pixels wide"),
        (boxed(10, 10, 10, 60), "box.not-positive", "0 pixels wide"),
        (boxed(10, 10, 180, 60), "box.outside", "20 pixels out"),
        (boxed(-5, 10, 50, 60), "box.outside", "on the left"),
        (boxed("nan", 10, 50, 60), "box.not-finite", "NaN"),
        (boxed(10, 10, "inf", 60), "box.not-finite", "Infinity"),
        (boxed("ten", 10, 50, 60), "annotation.schema-mismatch", "<xmin> is 'ten'"),
        (boxed("", 10, 50, 60), "annotation.schema-mismatch", "<xmin> is ''"),
        (boxed(10, 10, 50), "annotation.schema-mismatch", "has no <ymax>"),
        ("<object><name>cat</name></object>", "annotation.schema-mismatch", "no <bndbox>"),
        (boxed(10, 10, 50, 60, name=None), "label.missing", "no class"),
        (boxed(10, 10, 50, 60, name=" "), "label.missing", "no class"),
    ],
)
def test_an_object_that_breaks_training_is_found_by_its_number(
    objects: str, code: str, said: str
) -> None:
    made = read(document(boxed(10, 10, 50, 60), objects, boxed(20, 20, 50, 60)))
    assert made.codes("object 2") == [code]
    assert said in made.found["object 2"][0].message
    assert set(made.found) == {"object 2"}


def test_parts_of_an_object_are_not_taken_for_it() -> None:
    part = "<part><name>head</name><bndbox><xmin>999</xmin></bndbox></part>"
    made = read(document(boxed(10, 10, 50, 60, more=part)))
    assert made.all_codes == []
    assert made.examined.labels == ("cat",)


def test_repeats_are_found() -> None:
    made = read(document(*[boxed(10, 10, 50, 60)] * 2, boxed(10, 10, 50, 60, name="dog")))
    assert set(made.found) == {"object 2"}
    assert made.codes("object 2") == ["box.duplicate"]


def test_a_picture_without_objects_is_background() -> None:
    assert read(document()).all_codes == []


def test_a_class_that_the_policy_does_not_know_is_told() -> None:
    setup = Setup(policy=Policy(classes=("cat", "dog")))
    made = read(document(boxed(10, 10, 50, 60), boxed(1, 1, 50, 60, name="Cat")), setup)
    assert made.codes("object 2") == ["label.unknown-class"]
    assert made.found["object 2"][0].detail["known"] == ["cat", "dog"]
    assert made.examined.labels == ("cat",)


def sized(width: object, height: object) -> str:
    return f"<size><width>{width}</width><height>{height}</height></size>"


@pytest.mark.parametrize(
    ("size", "codes"),
    [
        (SIZE, []),
        ("", []),
        ("<size/>", []),
        (sized("wide", 120), []),
        (sized(160.0, "120.0"), []),
        (sized(120, 160), ["annotation.size-mismatch"]),
        (sized(320, 240), ["annotation.size-mismatch"]),
    ],
)
def test_the_stated_size_is_the_pictures(size: str, codes: list[str]) -> None:
    assert read(document(boxed(10, 10, 50, 60), size=size)).all_codes == codes


def test_a_size_of_nought_is_only_noted() -> None:
    (finding,) = read(document(boxed(10, 10, 50, 60), size=sized(0, 0))).examined.findings
    assert (finding.code, finding.severity) == ("annotation.size-mismatch", Severity.NOTE)


def test_the_stated_size_may_be_that_of_the_turned_picture() -> None:
    exif = picture(0, (160, 120)).getexif()
    exif[0x0112] = 6
    turned = jpeg(0, (160, 120), exif=exif)
    for size in (sized(160, 120), sized(120, 160)):
        made = read(document(boxed(10, 10, 50, 60), size=size), image=turned)
        assert made.all_codes == ["image.exif-rotated"]


@pytest.mark.parametrize(
    ("filename", "codes"),
    [
        ("a.jpg", []),
        ("A.JPEG", []),
        ("a", []),
        ("", []),
        ("C:\\pictures\\a.jpg", []),
        ("b.jpg", ["annotation.schema-mismatch"]),
    ],
)
def test_a_document_that_names_another_picture_is_a_warning(
    filename: str, codes: list[str]
) -> None:
    made = read(document(boxed(10, 10, 50, 60), filename=filename))
    assert made.all_codes == codes
    assert all(one.severity is Severity.WARN for one in made.examined.findings)


def test_another_root_is_a_mismatch() -> None:
    made = read(b"<annotations><object/></annotations>")
    assert made.all_codes == ["annotation.schema-mismatch"]


LAUGHS = (
    b'<!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(
        b'<!ENTITY a%d "%s">' % (n, b"&a%s;" % (b"" if n == 1 else b"%d" % (n - 1)) * 10)
        for n in range(1, 12)
    )
    + b"]><annotation><filename>&a11;</filename></annotation>"
)
BLOWUP = (
    b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 60_000 + b'">]><annotation>' + b"&a;" * 60_000
) + b"</annotation>"
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><annotation>&a;</annotation>'
PARAMETER = b'<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><annotation/>'


@pytest.mark.parametrize(
    ("data", "line", "byte"),
    [
        (b"", 1, 0),
        (b" \n", 1, 0),
        (b"<annotation>\n<object>\n<name>cat</nam", 3, 31),
        (b"<annotation>\n<a></b></annotation>", 2, 18),
        (b"<annotation>\n\x00</annotation>", 2, 13),
        (b"<annotation>\n<name>\xe9</name></annotation>", 2, 19),
        (b"<annotation>" + b"<a>" * 100_000, 1, 12 + 63 * 3),
        (b'<?xml version="1.0" encoding="gb2312"?><annotation/>', 1, 30),
        (LAUGHS, 1, 14),
        (BLOWUP, 1, 14),
        (OUTSIDE, 1, 51),
        (PARAMETER, 1, 53),
        (b'<!DOCTYPE x SYSTEM "x.dtd"><annotation>&a;</annotation>', 1, 39),
        (b"<annotation>&a;</annotation>", 1, 12),
    ],
)
def test_what_is_no_plain_document_is_one_finding_with_line_and_byte(
    data: bytes, line: int, byte: int
) -> None:
    made = read(data)
    assert made.all_codes == ["annotation.malformed"]
    detail = made.found[None][0].detail
    assert detail["line"] == line
    assert abs(detail["byte"] - byte) <= 12  # expat names a token, or a part of one


def test_other_encodings_and_a_byte_order_mark_are_read() -> None:
    text = document(boxed(10, 10, 50, 60, name="Käfer")).decode()
    for encoding, head in (("utf-16", ""), ("utf-8-sig", ""), ("latin-1", "latin-1")):
        declared = f'<?xml version="1.0" encoding="{head}"?>' if head else ""
        made = read((declared + text).encode(encoding))
        assert made.all_codes == []
        assert made.examined.labels == ("Käfer",)


def test_large_documents_are_read_in_bounds() -> None:
    many = document(*[boxed(10, 10, 50, 60)] * 2000)
    assert len(read(many).all_codes) == 201
    assert read(document(filename="x" * 2_000_000)).all_codes == ["annotation.schema-mismatch"]
    assert read(b"<annotation>" + b" " * (16 << 20)).all_codes == ["annotation.malformed"]


@given(
    st.lists(
        st.tuples(st.integers(1, 80), st.integers(1, 60), st.integers(1, 80), st.integers(1, 60)),
        max_size=6,
        unique=True,
    )
)
def test_boxes_within_the_picture_are_sound(boxes: list[tuple[int, int, int, int]]) -> None:
    objects = [boxed(x, y, x + width, y + height) for x, y, width, height in boxes]
    made = read(document(*objects))
    assert made.all_codes == []
    assert made.examined.labels == ("cat",) * len(boxes)


@given(st.binary(max_size=200).map(lambda data: b"<annotation><object>" + data))
def test_no_bytes_raise(data: bytes) -> None:
    read(data)
