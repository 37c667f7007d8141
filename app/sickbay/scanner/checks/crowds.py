"""What can be wrong with run-length masks (RLE), as COCO has them for crowds.

Counts of pixels outside and inside in turn, column by column; a list, or text with six bits a
character, five of them of the number. Read here in Python, where no hostile text can write
outside a buffer.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.boxes import Check, found
from sickbay.scanner.marks import Frame, Mark

_CODE = "annotation.bad-mask"
_FIRST, _LAST = 48, 111  # the characters of compressed counts
_MORE, _MINUS, _BITS, _PAYLOAD = 0x20, 0x10, 5, 0x1F
_LONGEST = 13  # characters of one number: 65 bits
_BY_DELTA = 3  # counts before this one are written as they are, later ones as differences


class BadCounts(ValueError):
    """The counts cannot be read; the sentence says why."""


def bad_size(marks: Sequence[Mark], frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """The mask's own size is none, or not the picture's."""
    for mark in marks:
        if mark.rle is None:
            continue
        size = _size(mark.rle.get("size"))
        if size is None:
            yield _found(mark, "The mask's size is not a height and a width.")
        elif frame is not None and size != (frame[1], frame[0]):
            said = f"The mask is {size[1]} x {size[0]}, the picture {frame[0]} x {frame[1]}."
            yield _found(mark, said)


def bad_counts(marks: Sequence[Mark], _frame: Frame | None, _policy: Policy) -> Iterator[Finding]:
    """The counts cannot be read, or do not add up to the mask's size."""
    for mark in marks:
        size = None if mark.rle is None else _size(mark.rle.get("size"))
        if mark.rle is None or size is None:
            continue
        try:
            made = counts(mark.rle.get("counts"))
        except BadCounts as error:
            yield _found(mark, str(error))
            continue
        total = sum(made)
        area = size[0] * size[1]
        if total == area and not sum(made[1::2]):
            yield _found(mark, "The mask has no pixel: whatever is drawn from it is empty.")
        if total != area:
            said = f"The mask's counts make {_shown(total)} pixels, its size {_shown(area)}."
            yield _found(mark, said)


CROWD_CHECKS: tuple[Check, ...] = (bad_size, bad_counts)


def counts(value: Any) -> list[int]:
    """Return the counts of a mask.

    Raises:
        BadCounts: they are neither a list of counts nor compressed text.
    """
    if isinstance(value, str):
        return list(_decompressed(value))
    if not isinstance(value, list):
        raise BadCounts("The mask has no counts, neither a list nor text.")
    if not all(type(one) is int and one >= 0 for one in value):
        raise BadCounts("The mask's counts are not all whole numbers from 0.")
    return value


def _decompressed(text: str) -> Iterator[int]:
    """Read what pycocotools' ``rleToString`` writes."""
    made: list[int] = []
    number = shift = 0
    for char in text:
        if not _FIRST <= ord(char) <= _LAST:
            raise BadCounts("The mask's compressed counts hold a character that is none of theirs.")
        bits = ord(char) - _FIRST
        number |= (bits & _PAYLOAD) << shift
        shift += _BITS
        if shift > _LONGEST * _BITS:
            raise BadCounts("The mask's compressed counts hold a number that does not end.")
        if bits & _MORE:
            continue
        if bits & _MINUS:
            number -= 1 << shift
        count = number + (made[-2] if len(made) >= _BY_DELTA else 0)
        if count < 0:
            raise BadCounts("The mask's compressed counts hold a negative number.")
        made.append(count)
        yield count
        number = shift = 0
    if shift:
        raise BadCounts("The mask's compressed counts end within a number.")


def _size(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, list) or len(value) != 2 or {type(side) for side in value} != {int}:  # noqa: PLR2004 (height and width)
        return None
    height, width = value
    return (height, width) if height > 0 and width > 0 else None


def _shown(number: int) -> str:
    return f"{number:,}" if number < 1 << 63 else "more than 2^63"


def _found(mark: Mark, message: str) -> Finding:
    return found(_CODE, mark, message)
