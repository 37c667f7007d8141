"""The policy's page: set by reviewers, read by all, lost to no mistake and to nobody else."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from tests import scanned
from tests.web.pages.desk import PAGE, Desk, text_of

from sickbay.accounts.tables import Role
from sickbay.contract.defects import DEFECTS
from sickbay.contract.policy import Policy
from sickbay.quarantine import data_sets, policies
from sickbay.quarantine.policies import StoredPolicy
from sickbay.web.pages.form import Form
from sickbay.web.pages.policy import reading, words


def stored(desk: Desk) -> StoredPolicy:
    with desk.database.reading() as session:
        return policies.read(session, data_sets.find(session, scanned.NAME).id)


def save(desk: Desk, version: int, **typed: str) -> tuple[int, str]:
    answer = desk.post("/policy", {"version": version, "act": "save", **typed})
    return answer.status_code, text_of(answer)


def test_what_is_saved_is_shown_with_who_did_it(desk: Desk) -> None:
    typed = {"num_classes": "3", "box_tolerance": "2.5", "severity-image.truncated": "warn"}
    assert save(desk, 0, **typed)[0] == 303
    assert stored(desk).differences == {
        "num_classes": 3,
        "box_tolerance": 2.5,
        "severities": {"image.truncated": "warn"},
    }
    page = desk.get("/policy")
    assert 'value="2.5"' in page.text
    assert "Number of classes: 3" in text_of(page)
    assert "image.truncated: warn" in text_of(page)


def test_the_next_scan_judges_by_it_and_the_overview_says_so(
    desk: Desk, scanned_once: Path
) -> None:
    save(desk, 0, **{"severity-image.truncated": "warn"})
    assert "Scan 1 was judged by another policy" in text_of(desk.get("/policy"))
    assert "changed since; scan again" in text_of(desk.get())
    state = Path(str(desk.database.path)).parent
    scanned.scan_into(state, scanned_once.parent / "data", policy=stored(desk).policy)
    said = text_of(desk.get())
    assert "1 difference from the defaults" in said
    assert f"Review {scanned.HELD - len(scanned.CUT) - 2}" in said


@pytest.mark.parametrize(
    ("name", "typed", "named"),
    [
        ("num_classes", "many", "Number of classes"),
        ("box_tolerance", "1e400", "Boxes may stand out by"),
        ("expect_shape", "3, x", "Shape of arrays"),
        ("num_classes", "-1", "num_classes"),
        ("classes", "cat\ncat", "a name twice"),
    ],
)
def test_a_mistake_is_named_and_what_was_typed_stays(
    desk: Desk, name: str, typed: str, named: str
) -> None:
    fields = {"version": 0, "act": "save", "min_side": "77", "severity-image.dark": "block"}
    answer = desk.post("/policy", {**fields, name: typed})
    assert answer.status_code == 422
    assert named in text_of(answer)
    assert 'value="77"' in answer.text
    assert '<option value="block" selected>' in " ".join(answer.text.split())
    assert stored(desk).version == 0


def test_of_two_who_change_it_the_second_is_told_and_loses_nothing(desk: Desk) -> None:
    assert save(desk, 0, min_side="40")[0] == 303
    status, said = save(desk, 0, min_side="50")
    assert (status, stored(desk).policy.min_side) == (409, 40)
    assert "was changed after you looked" in said
    assert "to save it now replaces that change" in said


def test_back_to_the_defaults_keeps_the_history(desk: Desk) -> None:
    save(desk, 0, min_side="40")
    assert desk.post("/policy", {"version": 1, "act": "reset"}).status_code == 303
    assert stored(desk).differences == {}
    said = text_of(desk.get("/policy"))
    assert "Shortest side: 40" in said
    assert "back to the defaults" in said


def test_a_viewer_may_look_only(desk: Desk, visitor: Callable[[Role], TestClient]) -> None:
    viewer = visitor(Role.VIEWER)
    page = viewer.get(f"{desk.base}/policy", headers=PAGE)
    assert "your role is viewer" in text_of(page)
    assert "Save the policy" not in page.text
    fields = {"version": 0, "act": "save", "min_side": "40"}
    assert viewer.post(f"{desk.base}/policy", data=fields, headers=PAGE).status_code == 403


def test_every_key_of_a_policy_has_its_field_and_every_code_its_row(desk: Desk) -> None:
    apart = {"severities", "tokenizer"}
    shown = {name for _title, group in words.GROUPS for name in group}
    assert shown | apart == {field.name for field in fields(Policy)}
    page = desk.get("/policy").text
    for code in DEFECTS:
        assert code.startswith("training.") or f'name="severity-{code}"' in page


NAMES = st.text(
    st.characters(min_codepoint=33, exclude_categories=("C", "Z")), min_size=1, max_size=20
)
POLICIES = st.builds(
    Policy,
    severities=st.dictionaries(
        st.sampled_from(sorted(DEFECTS)), st.sampled_from(["block", "warn", "note", "silent"])
    ),
    classes=st.none() | st.lists(NAMES, min_size=1, max_size=5, unique=True).map(tuple),
    max_tokens=st.none() | st.integers(1, 10**9),
    expect_shape=st.none()
    | st.lists(st.none() | st.integers(0, 999), min_size=1, max_size=5).map(tuple),
    box_tolerance=st.integers(0, 4000).map(lambda quarters: quarters / 4),
    tokenizer=st.none() | st.just("0" * 64),
)


@given(POLICIES)
def test_a_policy_written_into_the_form_and_read_back_is_the_same(policy: Policy) -> None:
    typed = {name: [text] for name, text in reading.written(policy).items()}
    chosen = {f"severity-{code}": [said] for code, said in policy.severities.items()}
    assert reading.read(Form({**typed, **chosen}), policy) == policy
