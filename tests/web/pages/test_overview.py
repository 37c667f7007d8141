"""Overview: numbers that add up, and the next step on empty pages."""

import re
from html.parser import HTMLParser

from fastapi.testclient import TestClient
from tests import scanned
from tests.runs.sending import Trainer, failure
from tests.web.pages.desk import PAGE, Desk, text_of

from sickbay.contract.blame import Sample
from sickbay.contract.event import FailureKind
from sickbay.quarantine import data_sets


def test_one_data_set_is_opened_at_once_and_several_are_listed(desk: Desk) -> None:
    answer = desk.client.get("/", headers=PAGE)
    assert answer.headers["location"] == desk.base
    desk.database.writing(
        lambda session: data_sets.register(session, name="empty-one", layout="imagefolder")
    )
    said = text_of(desk.client.get("/", headers=PAGE))
    assert "empty-one" in said
    assert f"Review {scanned.HELD}" in said


def test_the_overview_says_what_waits_and_the_scans_numbers_add_up(desk: Desk) -> None:
    said = text_of(desk.get())
    assert f"Review {scanned.HELD}" in said
    numbers = re.search(r"found (\d+) = clean (\d+) \+ held (\d+) \+ skipped (\d+)", said)
    assert numbers is not None
    found, *parts = map(int, numbers.groups())
    assert found == sum(parts)
    assert parts[1] == scanned.HELD


def test_the_overview_says_how_many_of_the_held_failed_in_training(desk: Desk) -> None:
    assert "failures of training" not in text_of(desk.get())
    trainer = Trainer(desk.database, dataset=scanned.NAME)
    bad = tuple(Sample(path) for path in scanned.SOUND[:2])
    kind = FailureKind.NON_FINITE_INPUT
    trainer.log(*(failure("", what=kind, exception_type="", samples=(one,)) for one in bad))
    assert "2 of them were in failures of training; they come first." in text_of(desk.get())
    desk.decide(scanned.SOUND[0], "exclude")
    assert "1 of them was in a failure of training; it comes first." in text_of(desk.get())


def test_a_data_set_without_a_scan_says_which_command_to_run(desk: Desk) -> None:
    desk.database.writing(
        lambda session: data_sets.register(session, name="empty-one", layout="imagefolder")
    )
    page = desk.client.get("/datasets/empty-one", headers=PAGE)
    assert "sickbay scan FOLDER --dataset empty-one" in text_of(page)
    review = desk.client.get("/datasets/empty-one/review", headers=PAGE)
    assert "sickbay scan FOLDER --dataset empty-one" in text_of(review)
    releases = desk.client.get("/datasets/empty-one/releases", headers=PAGE)
    assert "sickbay scan FOLDER --dataset empty-one" in text_of(releases)


class _Inline(HTMLParser):
    """Collects what a strict Content-Security-Policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        inline = [name for name in names if name == "style" or name.startswith("on")]
        if inline or tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(self.get_starttag_text() or tag)


def test_no_page_has_inline_script_or_style(desk: Desk) -> None:
    sample = desk.sample(scanned.HOSTILE)
    desk.decide(scanned.HOSTILE, "exclude", note=scanned.CANARY)
    for path in ("", "/review", "/review?status=excluded", f"/samples/{sample.id}", "/releases"):
        parser = _Inline()
        parser.feed(desk.get(path).text)
        assert parser.found == []


def test_the_login_page_has_a_field_for_browsers_without_scripts(stranger: TestClient) -> None:
    page = stranger.get("/login", headers=PAGE)
    assert 'name="link"' in page.text
    assert 'action="' not in page.text.partition("<form")[2].partition(">")[0]
