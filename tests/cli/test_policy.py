"""``sickbay policy`` and ``sickbay codes``, as people call them."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.commands import run
from tests.quarantine.factories import NAME, a_record, scanned
from tests.readme import example

from sickbay.contract.defects import DEFECTS
from sickbay.contract.policy import Policy
from sickbay.database.schema import open_database

STRICT = """
classes = ["stop", "give way \\"\\u007f", "*"]
expect_shape = [3, "*"]
box_tolerance = 0.5

[severities]
image.dark = "block"
"""


@pytest.fixture
def known(state: Path) -> Path:
    """A state with a data set."""
    database = open_database(state / "sickbay.db")
    scanned(database, [a_record("a.jpg")])
    database.close()
    return state


@pytest.fixture
def strict(tmp_path: Path) -> Path:
    """A policy file."""
    path = tmp_path / "strict.toml"
    path.write_text(STRICT)
    return path


def test_a_policy_is_shown_as_the_toml_that_sets_it(known: Path, strict: Path) -> None:
    ran = run("policy", NAME, "--set", strict, "--state", known)
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"# {NAME}: set by ")
    assert Policy.from_toml(ran.out) == Policy.from_toml(STRICT)
    assert run("policy", NAME, "--state", known).out == ran.out


def test_the_readmes_policy_is_one(known: Path, strict: Path) -> None:
    strict.write_text(example("policy"))
    ran = run("policy", NAME, "--set", strict, "--state", known)
    assert ran.code == 0, ran.err
    policy = Policy.from_toml(ran.out)
    assert (policy.num_classes, policy.expect_shape) == (10, (3, None, None))
    assert policy.severities == {"image.dark": "block", "image.trailing-data": "silent"}


def test_a_policy_is_reset_to_the_defaults(known: Path, strict: Path) -> None:
    assert run("policy", NAME, "--state", known).out == f"# {NAME}: as by default\n"
    run("policy", NAME, "--set", strict, "--state", known)
    ran = run("policy", NAME, "--reset", "--state", known)
    assert (ran.code, tomllib.loads(ran.out)) == (0, {})
    assert "as by default, set by " in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unknown"], "no data set of that name"),
        ([NAME, "--set", "none.toml"], "cannot be read"),
        ([NAME, "--set", "none.toml", "--reset"], "not both"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(known: Path, arguments: list[str], words: str) -> None:
    ran = run("policy", *arguments, "--state", known)
    assert ran.code == 2
    assert words in ran.sentence


def test_a_mistake_in_the_file_names_its_key_and_changes_nothing(known: Path, strict: Path) -> None:
    strict.write_text("box_tolerance = -1")
    ran = run("policy", NAME, "--set", strict, "--state", known)
    assert ran.code == 2
    assert "box_tolerance" in ran.sentence
    strict.write_bytes(b"\xff")
    assert "not UTF-8 at byte 0" in run("policy", NAME, "--set", strict, "--state", known).sentence
    assert "as by default" in run("policy", NAME, "--state", known).out


def test_codes_are_printed_with_severity_meaning_and_advice() -> None:
    out = run("codes").out
    for code, defect in DEFECTS.items():
        assert f"{code} " in out
        assert defect.meaning in out
        assert defect.advice in out


def test_codes_are_printed_as_json_for_programs() -> None:
    rows = json.loads(run("codes", "--json").out)
    assert [row["code"] for row in rows] == list(DEFECTS)
    assert set(rows[0]) == {"code", "severity", "meaning", "advice"}
