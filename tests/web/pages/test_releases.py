"""Releases on pages: the question about undecided samples, the report, the commands."""

import re

from tests import scanned
from tests.web.pages.desk import PAGE, Desk, text_of


def test_the_button_first_says_how_many_are_undecided(desk: Desk) -> None:
    assert f"Held, undecided {scanned.HELD}" in text_of(desk.get("/releases"))
    asked = desk.post("/releases", {"pending": ""})
    assert asked.status_code == 409
    assert f"Make it without {scanned.HELD}" in text_of(asked)
    assert "None yet." in text_of(asked)


def test_who_saw_another_number_of_undecided_samples_is_asked_again(desk: Desk) -> None:
    asked = desk.post("/releases", {"pending": str(scanned.HELD - 1)})
    assert asked.status_code == 409
    assert "None yet." in text_of(asked)


def test_a_release_is_shown_with_its_numbers_files_and_commands(desk: Desk) -> None:
    desk.decide(scanned.EMPTY, "exclude")
    made = desk.post("/releases", {"pending": str(scanned.HELD - 1)})
    assert made.status_code == 303
    page = desk.client.get(made.headers["location"], headers=PAGE)
    said = text_of(page)
    digest = made.headers["location"].rpartition("/")[2]
    assert f"sha256: {digest}" in said
    assert f"kept 3 + left out 1 + undecided {scanned.HELD - 1} = {scanned.HELD + 3}" in said
    assert f"sickbay pull pets@{digest[:12]}" in said
    assert f"sickbay verify pets@{digest[:12]}" in said
    for file in re.findall(r'href="(/api/v1/[^"]+)"', page.text):
        assert desk.client.get(file).status_code == 200


def test_classes_that_lose_much_are_warned_about(desk: Desk) -> None:
    desk.post("/releases", {"pending": str(scanned.HELD)})
    said = text_of(desk.client.get(desk.get("/releases/latest").headers["location"]))
    assert "dogs loses 100.0 % of its samples" in said
    assert re.search(r"dogs 65 0 warning: \u2212100.0 %", said)


def test_a_release_that_is_not_there_is_not_found(desk: Desk) -> None:
    assert desk.get(f"/releases/{'0' * 64}").status_code == 404
