"""Sparks: a series in a few buckets, kept for lists."""

from dataclasses import dataclass

from sickbay.runs.curves import buckets as b
from sickbay.runs.curves.buckets import Buckets
from sickbay.runs.curves.points import Points

MOST = 64
"""Buckets of a spark: a list draws it some 120 pixels wide."""


@dataclass(frozen=True, slots=True, eq=False)
class Spark:
    """At most :data:`MOST` buckets, ``width`` steps each; the width is a power of two."""

    width: int
    buckets: Buckets

    def packed(self) -> bytes:
        """Return the buckets as bytes."""
        return b.pack(self.buckets)


def read(width: int, data: bytes) -> Spark:
    """Return a spark that was stored."""
    return Spark(width, b.unpack(data))


def drawn(points: Points) -> Spark:
    """Return the spark of points, which are in order."""
    span = int(points.steps[-1]) - int(points.steps[0]) + 1
    width = 1 << max(0, (span // MOST).bit_length() - 1)
    return _narrowed(Spark(width, b.summarised(points, width)))


def added(one: Spark, other: Spark) -> Spark:
    """Return two sparks as one."""
    width = max(one.width, other.width)
    parts = [b.widened(spark.buckets, width // spark.width) for spark in (one, other)]
    return _narrowed(Spark(width, b.combined(parts)))


def _narrowed(spark: Spark) -> Spark:
    """Double the width until there are few enough."""
    while len(spark.buckets) > MOST:
        spark = Spark(spark.width * 2, b.widened(spark.buckets, 2))
    return spark
