"""Boxes drawn on a picture as viewers turn it are said to be that: pages show it as it lies."""

import io

import pytest
from PIL import Image
from tests.pictures import picture
from tests.scanner.beside import checked

NAMES = ("JPEGImages/a.jpg", "Annotations/a.xml")
VOC = """<annotation><size><width>{}</width><height>{}</height></size>
<object><name>cat</name><bndbox><xmin>10</xmin><ymin>10</ymin><xmax>{}</xmax><ymax>20</ymax>
</bndbox></object></annotation>"""


def turned_picture(orientation: int) -> bytes:
    """A JPEG of 160 x 120 pixels with that EXIF orientation."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    made = io.BytesIO()
    picture(1, (160, 120)).save(made, "JPEG", exif=exif)
    return made.getvalue()


@pytest.mark.parametrize(
    ("size", "turned"), [((160, 120), None), ((120, 160), True)], ids=["as it lies", "turned"]
)
def test_voc_boxes_are_in_the_frame_that_is_stated(
    size: tuple[int, int], *, turned: bool | None
) -> None:
    data = VOC.format(*size, 500).encode()
    made = checked("voc", data, picture=turned_picture(6), names=NAMES)
    (outside,) = (one for one in made.examined.findings if one.code == "box.outside")
    assert outside.detail.get("turned") is turned


def test_yolo_boxes_are_in_the_frame_that_viewers_show() -> None:
    made = checked("yolo", b"0 0.9 0.5 0.5 0.2\n", picture=turned_picture(6))
    (outside,) = (one for one in made.examined.findings if one.code == "box.outside")
    assert outside.detail["turned"] is True
    made = checked("yolo", b"0 0.9 0.5 0.5 0.2\n", picture=turned_picture(1))
    (outside,) = (one for one in made.examined.findings if one.code == "box.outside")
    assert "turned" not in outside.detail
