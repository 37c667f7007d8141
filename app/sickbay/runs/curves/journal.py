"""Points on their way in: one segment an event, as plain bytes.

They wait for their fold only, so nothing is compressed. A segment is the length of its series'
name, the number of points, the name in UTF-8, then three columns of 64-bit numbers.
"""

import struct
from collections.abc import Iterator

import numpy as np

from sickbay.contract import event
from sickbay.runs.curves.points import MICROSECOND, Points

_HEAD = struct.Struct("<HI")
_COLUMN = 8
_FARTHEST = (1 << 62) / MICROSECOND
"""Seconds: times beyond some 146,000 years are cut there."""


def segment(points: event.Points) -> bytes:
    """Return an event's points as a segment; its times are rounded to microseconds."""
    name = points.series.encode()
    seconds = np.frombuffer(points.times, np.float64)
    times = np.rint(np.clip(seconds, -_FARTHEST, _FARTHEST) * MICROSECOND).astype("<i8")
    return b"".join(
        (
            _HEAD.pack(len(name), len(points)),
            name,
            np.frombuffer(points.steps, np.int64).astype("<i8").tobytes(),
            np.frombuffer(points.values, np.float64).astype("<f8").tobytes(),
            times.tobytes(),
        )
    )


def segments(body: bytes, wanted: str | None = None) -> Iterator[tuple[str, Points]]:
    """Yield series and points of each segment, or of those of one series."""
    name_wanted = None if wanted is None else wanted.encode()
    at = 0
    while at < len(body):
        size, count = _HEAD.unpack_from(body, at)
        name = body[at + _HEAD.size : at + _HEAD.size + size]
        start = at + _HEAD.size + size
        at = start + 3 * _COLUMN * count
        if name_wanted is None or name == name_wanted:
            yield name.decode(), _columns(body, start, count)


def _columns(body: bytes, start: int, count: int) -> Points:
    end = _COLUMN * count
    return Points(
        np.frombuffer(body, "<i8", count, start),
        np.frombuffer(body, "<f8", count, start + end),
        np.frombuffer(body, "<i8", count, start + 2 * end),
    )
