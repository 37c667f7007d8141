"""YOLO label files: ``class x y width height``, ``class x1 y1 x2 y2 …`` or with keypoints.

Numbers are shares of the picture's width and height, x and y the middle of a box. A row of nine
numbers may be a turned box or a polygon of four points, which is the same here.
"""

from collections.abc import Iterator
from functools import partial

from sickbay.contract.finding import Finding
from sickbay.scanner.checks import labels
from sickbay.scanner.examine import sidecar
from sickbay.scanner.examine.sidecar import Said, Side, lines, text_of
from sickbay.scanner.excerpt import excerpt
from sickbay.scanner.marks import Mark

BOX = 5  # columns
POLYGON = 7  # columns at least: a class and three points
_MAX_LINE = 1_000_000  # characters: an outline of 50,000 points
_TELLING = 1 << 16  # characters of a file that tell what its rows are
_SHARE = 2  # no share of a picture, however badly drawn
_PIXELS = "Its numbers are pixels, as it seems; YOLO has shares of the picture's size, 0 to 1."


def parse(side: Side, said: Said) -> None:
    """Read a label file; each row that is none is a finding of its own."""
    text = text_of(side)
    points = _keypoints(side) or _likely_keypoints(text)
    said.size = side.size
    kinds: dict[bool, int] = {}
    for number, line in lines(text):
        item = f"line {number}"
        columns = line.split() if len(line) <= _MAX_LINE else []
        values = _numbers(columns[1:])
        wrong = _malformed(columns, values, points)
        if wrong is None:
            said.findings.extend(_labelled(columns[0], side, item, said))
            if _in_pixels(values or [], side.size):
                said.findings.append(Finding.of("box.outside", side.file, _PIXELS, item))
            else:
                said.add(_mark(columns[0], values or [], side, item, points))
            kinds.setdefault(len(columns) == BOX, number)
        else:
            detail = {"excerpt": excerpt(line)}
            said.findings.append(Finding.of("label.malformed", side.file, wrong, item, **detail))
    if points is None and len(kinds) > 1:
        said.findings.append(_mixed(side, kinds[True], kinds[False]))


def _keypoints(side: Side) -> tuple[int, int] | None:
    """Return how many keypoints a row has, and values of each."""
    given = side.task.given
    return tuple(given["keypoints"]) if given else None


def _likely_keypoints(text: str) -> tuple[int, int] | None:
    """Tell keypoints where no description counts them: triples that end in 0, 1 or 2.

    A polygon has an odd number of columns and no 2 in it. All rows must be like that.
    """
    rows = [line.split() for _, line in lines(text[:_TELLING])]
    counts = {len(columns) for columns in rows}
    points, rest = divmod(max(counts, default=0) - BOX, 3)
    if len(counts) != 1 or points < 1 or rest:
        return None
    seen = {_numbers([one]) and float(one) for columns in rows for one in columns[BOX + 2 :: 3]}
    sure = points % 2 == 1 or 2.0 in seen  # noqa: PLR2004 (in sight)
    return (points, 3) if sure and seen <= {0.0, 1.0, 2.0} else None


def _numbers(columns: list[str]) -> list[float] | None:
    try:
        return [float(column) for column in columns]
    except ValueError:
        return None


def _malformed(
    columns: list[str], values: list[float] | None, points: tuple[int, int] | None
) -> str | None:
    """Say why a row is no label, or nothing where it is one."""
    count = len(columns)
    if not count:
        return f"It is longer than the {_MAX_LINE:,} characters that are read."
    if count < BOX and any("," in column for column in columns):
        return "Its numbers are separated by commas; YOLO separates them by spaces."
    if values is None:
        return f"{_first_text(columns)!r} is no number."
    if points is not None:
        wanted = BOX + points[0] * points[1]
        return (
            None if count == wanted else f"It has {count} columns; with keypoints it has {wanted}."
        )
    if count == BOX or (count >= POLYGON and count % 2):
        return None
    return f"It has {_counted(count)}; a box has 5, a polygon an odd number from 7 on."


def _in_pixels(values: list[float], size: tuple[int, int] | None) -> bool:
    """Whether a row fits the picture in pixels, and not at all in shares of it."""
    fits = size is not None and min(values) >= 0 and max(values) <= max(size)
    return fits and sum(value >= _SHARE for value in values) >= len(values) / 2


def _counted(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _first_text(columns: list[str]) -> str:
    wrong = next(column for column in columns[1:] if _numbers([column]) is None)
    return excerpt(wrong[:40])


def _labelled(text: str, side: Side, item: str, said: Said) -> Iterator[Finding]:
    """Check the class of a row and count it."""
    number = labels.whole_number(text)
    if number is None:
        if (finding := labels.not_a_number(text, side.file, item)) is not None:
            yield finding
        return
    finding = labels.out_of_range(number, side.classes, side.file, item)
    if finding is not None:
        yield finding
    else:
        said.labels.append(side.classes.shown(number))


def _mark(
    label: str, values: list[float], side: Side, item: str, points: tuple[int, int] | None
) -> Mark:
    """Scale a row's shares to pixels; where the size is unknown they stay shares."""
    width, height = side.size or (1, 1)
    number = labels.whole_number(label)
    name = label if number is None else number
    if points is None and len(values) >= POLYGON - 1:
        outline = tuple(value * (height if at % 2 else width) for at, value in enumerate(values))
        return Mark(item, side.file, name, polygons=(outline,))
    x, y, w, h = values[:4]
    box = ((x - w / 2) * width, (y - h / 2) * height, w * width, h * height)
    if points is None:
        return Mark(item, side.file, name, box)
    return Mark(item, side.file, name, box, keypoints=_pointed(values[4:], points, side.size))


def _pointed(
    values: list[float], points: tuple[int, int], size: tuple[int, int] | None
) -> tuple[float, ...]:
    """Return x, y and visibility of each keypoint; without visibility those at 0, 0 are none."""
    width, height = size or (1, 1)
    made: list[float] = []
    for at in range(0, len(values), points[1]):
        x, y, *seen = values[at : at + points[1]]
        shown = seen[0] if seen else 2.0 * (x != 0 or y != 0)
        made += (x * width, y * height, shown)
    return tuple(made)


def _mixed(side: Side, box: int, polygon: int) -> Finding:
    """Tell boxes among polygons: trainers read all rows as polygons then, of two points."""
    message = f"Line {box} is a box and line {polygon} a polygon; trainers misread one of them."
    return Finding.of("label.mixed-kinds", side.file, message, f"line {box}", polygon=polygon)


examine = partial(sidecar.examine, parse=parse)
"""Checks a picture and its label file."""
