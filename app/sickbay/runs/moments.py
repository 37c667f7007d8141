"""Times that a trainer gave, as moments: its clock may say anything."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = (datetime(1, 1, 2, tzinfo=UTC) - _EPOCH).total_seconds()
_LATEST = (datetime(9999, 12, 30, tzinfo=UTC) - _EPOCH).total_seconds()


def moment(seconds: float) -> datetime:
    """Return the moment at so many seconds since 1970, cut to the years 1 to 9999."""
    return _EPOCH + timedelta(seconds=min(max(seconds, _EARLIEST), _LATEST))


def microseconds(span: timedelta) -> int:
    """Return a span as whole microseconds."""
    return span // timedelta(microseconds=1)
