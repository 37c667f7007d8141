"""Data sets with thousands of classes: pages stay light, and the rest is one link away."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event
from tests.quarantine.factories import NAME, a_record, scanned
from tests.web.pages.desk import PAGE, Desk, text_of

CLASSES = 1_500
LIGHT = 150_000
"""Bytes of a page; with a row for each class it would be a megabyte."""
BASE = f"/datasets/{NAME}"


def label(number: int) -> str:
    return f"class-{number:04}"


@pytest.fixture
def many(desk: Desk) -> TestClient:
    """A reviewer; every class has one held sample, the last three have clean ones too."""
    held = [
        a_record(f"{label(n)}/a.jpg", "file.empty", label=label(n), content=None)
        for n in range(CLASSES)
    ]
    clean = [
        a_record(f"{label(n)}/{copy}.jpg", label=label(n), content=f"{n} {copy}")
        for n in range(CLASSES - 3, CLASSES)
        for copy in ("b", "c")
    ]
    scanned(desk.database, held + clean)
    return desk.client


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect what is asked of the database meanwhile."""
    asked: list[str] = []

    def listen(*call: object) -> None:
        asked.append(str(call[2]))

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield asked
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


def classes_of(html: str) -> list[str]:
    return re.findall(r'<th scope="row">\s*<bdi>([^<]*)</bdi>', html)


def labels_of(html: str) -> list[str]:
    facet = html.partition('id="facet-label"')[2].partition("</details>")[0]
    return re.findall(r"<bdi>([^<]*)</bdi>", facet)


def test_the_overview_shows_the_classes_that_lose_most_and_says_how_many_more(
    many: TestClient,
) -> None:
    page = many.get(BASE, headers=PAGE)
    assert len(page.content) < LIGHT
    assert classes_of(page.text) == [label(number) for number in range(50)]
    assert f"{CLASSES - 50} more classes" in text_of(page)


def test_a_link_shows_every_class_and_another_leads_back(many: TestClient) -> None:
    page = many.get(f"{BASE}?classes=all", headers=PAGE)
    assert 'href="?classes=all#classes"' in many.get(BASE, headers=PAGE).text
    assert len(classes_of(page.text)) == CLASSES
    assert classes_of(page.text)[-1] == label(CLASSES - 1)
    assert 'href="?#classes"' in page.text


@pytest.mark.parametrize("query", ["classes=", "classes=9", "classes=ALL"])
def test_a_table_of_classes_is_shown_whole_or_not(many: TestClient, query: str) -> None:
    assert many.get(f"{BASE}?{query}", headers=PAGE).status_code == 422


def test_a_long_facet_shows_its_largest_values_and_links_to_the_rest(many: TestClient) -> None:
    page = many.get(f"{BASE}/review", headers=PAGE)
    assert len(page.content) < LIGHT
    assert labels_of(page.text) == [label(number) for number in range(20)]
    link = re.search(r'href="([^"]*)"><span>1,480 more</span>', page.text)
    assert link is not None
    whole = many.get(unescape(link[1]), headers=PAGE)
    assert len(labels_of(whole.text)) == CLASSES
    assert re.search(r'<details id="facet-label"\s+open', whole.text)


def test_the_value_that_is_chosen_is_shown_however_few_samples_it_has(many: TestClient) -> None:
    last = label(CLASSES - 1)
    page = many.get(f"{BASE}/review?label={last}", headers=PAGE)
    assert labels_of(page.text) == [*(label(number) for number in range(20)), last]
    assert re.search(r'aria-current="true"\s+title="class-1499"', page.text)


def test_the_whole_facet_is_asked_for_and_not_carried_along(many: TestClient) -> None:
    page = many.get(f"{BASE}/review?code=file.empty&facet=label", headers=PAGE)
    carried = [href for href in re.findall(r'href="([^"]*)"', page.text) if "facet=" in href]
    assert carried == []
    assert many.get(f"{BASE}/review?facet=colour", headers=PAGE).status_code == 422


def test_a_release_shows_the_classes_that_lose_most_and_counts_all_warnings(
    many: TestClient,
) -> None:
    made = many.post(f"{BASE}/releases", data={"pending": str(CLASSES)}, headers=PAGE)
    page = many.get(made.headers["location"], headers=PAGE)
    assert len(page.content) < LIGHT
    assert len(classes_of(page.text)) == 50
    assert f"{CLASSES - 3} more lose that much" in text_of(page)
    whole = many.get(f"{made.headers['location']}?classes=all", headers=PAGE)
    assert len(classes_of(whole.text)) == CLASSES


@pytest.mark.parametrize("at", ["", "?classes=all", "/review", "/review?facet=label"])
def test_a_page_asks_the_database_as_often_for_many_classes_as_for_few(
    many: TestClient, desk: Desk, at: str
) -> None:
    with statements() as for_many:
        many.get(f"{BASE}{at}", headers=PAGE)
    few = [a_record(f"{number}.jpg", "file.empty") for number in range(100)]
    scanned(desk.database, few, name="small")
    with statements() as for_one:
        many.get(f"/datasets/small{at}", headers=PAGE)
    assert for_many
    assert len(for_many) == len(for_one)
