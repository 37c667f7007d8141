"""One sample without a script: what it shows, decisions, refusals, replacement, undo."""

import hashlib
import re
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from tests import pictures, scanned
from tests.web.pages.desk import PAGE, SCRIPT, Desk, text_of

from sickbay.accounts.tables import Role


def test_a_sample_shows_what_is_wrong_what_to_do_and_its_place(desk: Desk) -> None:
    sample = desk.sample(scanned.CUT[0])
    page = desk.get(f"/samples/{sample.id}", code="image.truncated", split="train")
    said = text_of(page)
    assert "image. truncated" in said
    assert "Copy it again from its source" in said
    assert "3 of 67" in said
    assert sample.sha256 is not None
    assert sample.sha256 in said


def test_first_bytes_of_what_is_no_picture_are_shown_in_hex_and_text(desk: Desk) -> None:
    page = desk.get(f"/samples/{desk.sample(scanned.PAGE).id}")
    assert "3c 21 44 4f 43 54 59 50 45" in page.text
    assert "<!DOCTYPE html>" in text_of(page)


def test_copies_in_the_other_split_are_linked(desk: Desk) -> None:
    page = desk.get(f"/samples/{desk.sample(scanned.LEAK[0]).id}")
    assert "The same content" in text_of(page)
    assert scanned.LEAK[1] in text_of(page)


def test_a_decision_goes_on_to_the_next_sample_of_the_queue(desk: Desk) -> None:
    query = "code=image.truncated&split=train&path=cut_"
    answer = desk.decide(scanned.CUT[0], "exclude", reason="damaged", query=query)
    following = desk.sample(scanned.CUT[1])
    assert answer.status_code == 303
    location = answer.headers["location"]
    assert location.startswith(f"{desk.base}/samples/{following.id}?")
    page = desk.client.get(location, headers=PAGE)
    assert "Left out dogs/cut_00.jpg : damaged" in text_of(page)


def test_the_last_decision_of_a_queue_leads_back_to_the_grid(desk: Desk) -> None:
    answer = desk.decide(scanned.EMPTY, "exclude", query="code=file.empty")
    assert answer.headers["location"] == f"{desk.base}/review?code=file.empty"


def test_an_undo_leads_to_the_sample_that_came_back(desk: Desk) -> None:
    desk.decide(scanned.EMPTY, "exclude")
    page = desk.get("/review")
    batch = re.search(r'name="batch" value="(\w+)"', page.text)
    assert batch is not None
    answer = desk.post("/undo", {"batch": batch[1], "query": "", "from": "sample"})
    assert answer.headers["location"] == f"{desk.base}/samples/{desk.sample(scanned.EMPTY).id}"
    assert desk.sample(scanned.EMPTY).status == "held"


def test_a_decided_sample_says_who_and_why_and_can_be_reopened(desk: Desk) -> None:
    desk.decide(scanned.CUT[3], "approve", reason="other", note="good enough")
    sample = desk.sample(scanned.CUT[3])
    page = desk.get(f"/samples/{sample.id}")
    assert "Approved a reviewer" in text_of(page)
    assert "good enough" in text_of(page)
    desk.decide(scanned.CUT[3], "reopen")
    assert desk.sample(scanned.CUT[3]).status == "held"


def test_who_comes_second_is_told_how_it_stands_and_keeps_what_they_wrote(desk: Desk) -> None:
    sample = desk.sample(scanned.CUT[1])
    desk.decide(scanned.CUT[1], "exclude")
    late = {
        "version": sample.version, "action": "approve", "query": "",
        "reason": "other", "note": "looks fine to me",
    }  # fmt: skip
    page = desk.post(f"/samples/{sample.id}/decision", late)
    assert page.status_code == 409
    assert "Not saved: somebody was first." in text_of(page)
    assert "excluded now" in text_of(page)
    assert desk.sample(scanned.CUT[1]).status == "excluded"


def test_a_script_that_comes_second_gets_the_present_state(desk: Desk) -> None:
    sample = desk.sample(scanned.CUT[1])
    desk.decide(scanned.CUT[1], "exclude")
    late = {"version": sample.version, "action": "approve", "query": ""}
    answer = desk.post(f"/samples/{sample.id}/decision", late, **SCRIPT)
    assert answer.status_code == 409
    assert answer.json()["samples"] == [
        {"id": sample.id, "version": sample.version + 1, "status": "excluded"}
    ]


def test_a_script_is_told_what_was_done_and_where_to_go_on(desk: Desk) -> None:
    sample = desk.sample(scanned.CUT[0])
    fields = {
        "version": sample.version, "action": "exclude", "reason": "damaged",
        "query": "path=cut_",
    }  # fmt: skip
    told = desk.post(f"/samples/{sample.id}/decision", fields, **SCRIPT).json()
    assert told["said"] == {"words": "Left out", "path": scanned.CUT[0], "because": "damaged"}
    assert told["samples"] == [
        {"id": sample.id, "version": sample.version + 1, "status": "excluded"}
    ]
    assert told["next"] == f"{desk.base}/samples/{desk.sample(scanned.CUT[1]).id}?path=cut_"
    assert told["undo"] == told["batch"]
    assert told["held"] == scanned.HELD - 1


def test_a_sound_replacement_takes_the_place_of_the_file(desk: Desk) -> None:
    sample, new = desk.sample(scanned.EMPTY), pictures.jpeg(7)
    answer = desk.client.post(
        f"{desk.base}/samples/{sample.id}/replacement",
        data={"version": str(sample.version), "query": "", "note": "from the camera's card"},
        files={"file": ("again.jpg", new, "image/jpeg")},
        headers=PAGE,
    )
    assert answer.status_code == 303
    after = desk.sample(scanned.EMPTY)
    assert after.status == "repaired"
    assert after.replacement is not None
    assert after.replacement.sha256 == hashlib.sha256(new).hexdigest()
    assert "from the camera's card" in text_of(desk.get(f"/samples/{sample.id}"))


def test_a_replacement_with_a_fault_is_refused_with_its_finding(desk: Desk) -> None:
    sample = desk.sample(scanned.EMPTY)
    page = desk.client.post(
        f"{desk.base}/samples/{sample.id}/replacement",
        data={"version": str(sample.version), "query": "", "note": "second try"},
        files={"file": ("cut.jpg", pictures.truncated(pictures.jpeg(7)), "image/jpeg")},
        headers=PAGE,
    )
    assert page.status_code == 422
    assert "The new file is not fit either." in text_of(page)
    assert "image.truncated" in text_of(page)
    assert 'value="second try"' in page.text
    assert desk.sample(scanned.EMPTY).status == "held"


@pytest.mark.parametrize("kind", ["ICO", "PNG", "GIF", "WEBP", "TIFF", "BMP"])
def test_a_replacement_in_another_format_than_the_name_says_is_refused_with_what_to_do(
    desk: Desk, kind: str
) -> None:
    sample = desk.sample(scanned.EMPTY)
    page = desk.client.post(
        f"{desk.base}/samples/{sample.id}/replacement",
        data={"version": str(sample.version), "query": "", "note": ""},
        files={"file": ("new.jpg", pictures.encoded(pictures.picture(3), kind), "image/jpeg")},
        headers=PAGE,
    )
    assert page.status_code == 422
    assert f"ends in .jpg, the new file is {kind}. Save the picture as JPEG" in text_of(page)
    assert desk.sample(scanned.EMPTY).status == "held"


def test_a_name_that_no_release_can_list_cannot_be_kept_and_the_page_says_why(desk: Desk) -> None:
    sample = desk.sample(scanned.UNSAFE)
    page = desk.get(f"/samples/{sample.id}")
    assert "It cannot be kept as it is. The name holds a control character" in text_of(page)
    refused = desk.decide(scanned.UNSAFE, "approve")
    assert refused.status_code == 409
    assert "Not possible." in text_of(refused)
    assert desk.decide(scanned.UNSAFE, "exclude").status_code == 303


def test_hostile_names_and_notes_are_text(desk: Desk) -> None:
    desk.decide(scanned.HOSTILE, "exclude", note=scanned.CANARY)
    page = desk.get(f"/samples/{desk.sample(scanned.HOSTILE).id}")
    assert "<img src=x" not in page.text
    assert scanned.CANARY in text_of(page)


def test_a_viewer_may_look_but_not_decide(
    desk: Desk, visitor: Callable[[Role], TestClient]
) -> None:
    viewer = Desk(visitor(Role.VIEWER), desk.database)
    sample = desk.sample(scanned.EMPTY)
    page = viewer.get(f"/samples/{sample.id}")
    assert page.status_code == 200
    assert 'name="action"' not in page.text
    assert viewer.decide(scanned.EMPTY, "exclude").status_code == 403
    assert desk.sample(scanned.EMPTY).status == "held"


def test_nobody_is_sent_to_the_login_page(desk: Desk, stranger: TestClient) -> None:
    answer = stranger.get(f"{desk.base}/review", headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")


@pytest.mark.parametrize("sample_id", ["0", "999999", "x", "-1"])
def test_a_sample_that_is_not_there_is_not_found(desk: Desk, sample_id: str) -> None:
    assert desk.get(f"/samples/{sample_id}").status_code == 404
