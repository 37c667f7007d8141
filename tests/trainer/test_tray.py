"""The tray is bounded in everything, and counts what it does not take."""

import pytest

from sickbay.contract.event import Alert, Points
from sickbay.trainer import tray as trays
from sickbay.trainer.columns import POINTS_IN_EVENT, Columns
from sickbay.trainer.tray import Tray


def _bodies(tray: Tray) -> list[Points]:
    columns = Columns()
    columns.add(tray.take_points(1_000_000))
    return list(columns.bodies(tray.names))


def test_what_does_not_fit_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trays, "MOST_POINTS", 10)
    tray = Tray()
    for step in range(15):
        tray.put_point("loss", 1.0, step, 0.0)
    for _ in range(trays.MOST_BODIES + 2):
        tray.put(Alert("title"), 0.0)
    assert tray.dropped == {"queue": 7}
    assert len(tray.take_points(100)) == 10
    assert len(tray.take_bodies()) == trays.MOST_BODIES


def test_series_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trays, "MOST_SERIES", 2)
    tray = Tray()
    for name in ("a", "b", "a"):
        tray.put_point(name, 1.0, 0, 0.0)
    with pytest.raises(ValueError, match="20,000"):
        tray.put_point("c", 1.0, 0, 0.0)
    assert [(body.series, len(body)) for body in _bodies(tray)] == [("a", 2), ("b", 1)]


def test_no_event_is_long_and_none_mixes_series() -> None:
    tray = Tray()
    for step in range(1200):
        tray.put_point("loss", step, step, 0.1234567)
        tray.put_point("lr", 0.5, step, 0.0)
    bodies = _bodies(tray)
    assert max(map(len, bodies)) == POINTS_IN_EVENT
    for series in ("loss", "lr"):
        own = [body for body in bodies if body.series == series]
        assert [step for body in own for step in body.steps] == list(range(1200))
    assert bodies[0].times[0] == 0.123
