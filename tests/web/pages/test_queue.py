"""The queue without a script: what it shows, and that its URL is the whole filter."""

import re
from html import unescape

import pytest
from tests import scanned
from tests.web.pages.desk import Desk, text_of


def _paths(html: str) -> list[str]:
    return [unescape(path) for path in re.findall(r'data-path="([^"]*)"', html)]


def _link(html: str, pattern: str) -> str:
    found = re.search(rf'<a[^>]*href="([^"]*)"[^>]*{pattern}', html)
    assert found is not None, pattern
    return unescape(found[1])


def test_the_queue_shows_what_is_held_and_how_many_there_are(desk: Desk) -> None:
    page = desk.get("/review")
    assert page.status_code == 200
    assert len(_paths(page.text)) == 60
    assert f"1\u201360 of {scanned.HELD}" in text_of(page)


def test_the_second_page_goes_on_where_the_first_ends_and_nothing_is_shown_twice(
    desk: Desk,
) -> None:
    first = desk.get("/review")
    second = desk.client.get(_link(first.text, 'rel="next"'))
    both = _paths(first.text) + _paths(second.text)
    assert len(both) == len(set(both)) == scanned.HELD
    assert f"61\u2013{scanned.HELD} of {scanned.HELD}" in text_of(second)


def test_the_filter_is_in_the_url_and_facets_count_what_it_would_show(desk: Desk) -> None:
    page = desk.get("/review", code="file.empty")
    assert _paths(page.text) == [scanned.EMPTY]
    both = desk.get("/review", split="val", path="cats/")
    assert set(_paths(both.text)) == {scanned.EMPTY, scanned.PAGE, scanned.LEAK[1]}
    assert re.search(r"image\.truncated 67", text_of(desk.get("/review")))


def test_an_active_filter_is_a_chip_that_removes_it_and_leaves_the_others(desk: Desk) -> None:
    page = desk.get("/review", code="image.truncated", split="train")
    href = _link(page.text, 'aria-label="Remove filter: image.truncated"')
    assert "split=train" in href
    assert "code=" not in href


def test_a_filter_that_matches_nothing_says_which_one_to_drop(desk: Desk) -> None:
    page = desk.get("/review", code="file.empty", split="train")
    assert "No sample matches these 3 filters." in text_of(page)
    assert re.search(r"Remove train 1", text_of(page))


@pytest.mark.parametrize(
    "query", ["status=lost", "code=no.such", "colour=red", "sort=worst", "tile=xl", "after=%00"]
)
def test_a_query_that_no_queue_has_gets_a_plain_422(desk: Desk, query: str) -> None:
    page = desk.client.get(f"{desk.base}/review?{query}", headers={"Accept": "text/html"})
    assert page.status_code == 422
    assert "That cannot be used" in text_of(page)


def test_the_tile_size_is_kept_in_every_link(desk: Desk) -> None:
    page = desk.get("/review", tile="l")
    assert 'data-size="l"' in page.text
    assert "tile=l" in _link(page.text, 'rel="next"')


def test_hostile_names_are_text_in_the_grid(desk: Desk) -> None:
    page = desk.get("/review", path="onerror")
    assert _paths(page.text) == [scanned.HOSTILE]
    assert "<img src=x" not in page.text


def test_a_broken_file_shows_its_first_bytes_and_an_empty_one_a_phrase(desk: Desk) -> None:
    assert "3c 21 44 4f 43" in desk.get("/review", code="image.undecodable").text
    assert "no bytes" in text_of(desk.get("/review", code="file.empty"))


def test_a_truncated_picture_is_hatched_and_a_sound_one_is_not(desk: Desk) -> None:
    assert 'class="shot torn"' in desk.get("/review", code="image.truncated").text
    assert 'class="shot torn"' not in desk.get("/review", code="set.split-leak").text


def test_the_question_about_all_that_match_names_their_number(desk: Desk) -> None:
    page = desk.get("/review", ask="all")
    assert f"Decide for all {scanned.HELD} that match?" in text_of(page)
    assert f"Leave out {scanned.HELD}" in text_of(page)


def test_all_that_match_are_left_out_in_one_act_and_one_undo_brings_them_back(desk: Desk) -> None:
    fields = {"action": "exclude", "all": str(scanned.HELD), "query": "", "reason": "damaged"}
    assert desk.post("/decisions", fields).status_code == 303
    page = desk.get("/review")
    assert "Nothing is held." in text_of(page)
    assert f"Left out {scanned.HELD} samples: damaged" in text_of(page)
    batch = re.search(r'name="batch" value="(\w+)"', page.text)
    assert batch is not None
    assert desk.post("/undo", {"batch": batch[1], "query": "", "from": "grid"}).status_code == 303
    assert f"1\u201360 of {scanned.HELD}" in text_of(desk.get("/review"))


def test_all_that_match_are_refused_when_they_are_more_than_the_reviewer_saw(desk: Desk) -> None:
    fields = {"action": "exclude", "all": str(scanned.HELD - 1), "query": ""}
    page = desk.post("/decisions", fields)
    assert page.status_code == 409
    assert f"matches {scanned.HELD} samples now" in text_of(page)
    assert f"1\u201360 of {scanned.HELD}" in text_of(page)


def test_ticked_samples_are_decided_together_and_stay_in_the_same_queue(desk: Desk) -> None:
    samples = [desk.sample(path) for path in scanned.LEAK]
    picks = [f"{sample.id}:{sample.version}" for sample in samples]
    fields = {"pick": picks, "action": "exclude", "reason": "copy", "query": "code=set.split-leak"}
    answer = desk.post("/decisions", fields)
    assert answer.headers["location"] == f"{desk.base}/review?code=set.split-leak"
    assert {desk.sample(path).status for path in scanned.LEAK} == {"excluded"}


@pytest.mark.parametrize("pick", ["1", "1:x", "-1:1", "1:1:1", "9" * 40 + ":1"])
def test_a_pick_that_is_none_is_refused(desk: Desk, pick: str) -> None:
    answer = desk.post("/decisions", {"pick": [pick], "action": "exclude", "query": ""})
    assert answer.status_code == 422


def test_a_form_cannot_lead_to_another_site(desk: Desk) -> None:
    sample = desk.sample(scanned.EMPTY)
    fields = {
        "pick": [f"{sample.id}:{sample.version}"],
        "action": "exclude",
        "query": "next=//evil.example",
    }
    assert desk.post("/decisions", fields).status_code == 422
    assert desk.sample(scanned.EMPTY).status == "held"
