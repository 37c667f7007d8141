"""How numbers, moments and names are written on pages."""

from datetime import UTC, datetime, timedelta

import pytest
from jinja2 import UndefinedError
from markupsafe import escape

from sickbay.database.tables import now
from sickbay.web import render


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (412_300, "412 kB"),
        (2 * 10**12, "2.0 TB"),
    ],
)
def test_sizes_are_written_in_steps_of_a_thousand(number: int, words: str) -> None:
    assert render.bytesize(number) == words


@pytest.mark.parametrize(
    ("past", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=7), "7 h ago"),
    ],
)
def test_times_are_relative_up_to_a_day(past: timedelta, words: str) -> None:
    assert f">{words}</time>" in render.ago(now() - past)


def test_an_older_time_is_a_date_with_the_exact_time_beside_it() -> None:
    written = render.ago(datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))
    assert ">4 Mar 2026, 05:06</time>" in written
    assert 'title="2026-03-04 05:06:07 UTC"' in written


def test_a_name_is_escaped_and_isolated() -> None:
    assert render.isolated("<b>\u202egnp") == "<bdi>&lt;b&gt;\u202egnp</bdi>"


def test_a_tile_shows_the_last_two_parts_of_a_path() -> None:
    assert render.tail("train/dogs/rex/1.jpg") == "rex/1.jpg"
    assert render.tail("1.jpg") == "1.jpg"


def test_a_tile_of_a_row_shows_its_number_first() -> None:
    assert render.tail("a/b/train.csv#row=000000042") == "row 42, b/train.csv"
    assert render.tail("x.jsonl#line=1000000000") == "line 1000000000, x.jsonl"
    assert render.tail("x#row=7") == "x#row=7"


def test_a_name_that_the_page_object_lacks_is_an_error() -> None:
    template = render.environment().from_string("{{ page.missing }}")
    with pytest.raises(UndefinedError):
        template.render(page=object())


def test_every_value_is_escaped() -> None:
    canary = '"><img src=x onerror=alert(1)>'
    template = render.environment().from_string("{{ _('Say %(what)s', what=page) }} {{ page }}")
    assert template.render(page=canary) == f"Say {escape(canary)} {escape(canary)}"
