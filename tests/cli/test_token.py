"""``sickbay token`` and ``sickbay codes``."""

from pathlib import Path

import pytest
from tests.commands import run

from sickbay.contract.defects import DEFECTS


def test_a_token_is_made_listed_and_revoked(state: Path) -> None:
    made = run("token", "new", "lab one", "--scope", "scan,releases", "--state", state)
    assert made.code == 0
    assert made.out.startswith("sickbay_1_")
    listed = run("token", "list", "--state", state).out
    assert listed == "lab one\treleases,scan\tnever used\n"
    assert run("token", "revoke", "lab one", "--state", state).code == 0
    assert run("token", "list", "--state", state).out == "lab one\treleases,scan\trevoked\n"


@pytest.mark.parametrize("scope", ["", "scan,admin"])
def test_an_unknown_scope_is_one_sentence(state: Path, scope: str) -> None:
    ran = run("token", "new", "lab", f"--scope={scope}", "--state", state)
    assert ran.code == 2
    assert "scan" in ran.sentence


def test_an_unknown_token_is_one_sentence(state: Path) -> None:
    ran = run("token", "revoke", "lab", "--state", state)
    assert ran.code == 2
    assert "sickbay token list" in ran.sentence


def test_a_name_is_used_once(state: Path) -> None:
    assert run("token", "new", "lab", "--scope", "scan", "--state", state).code == 0
    assert run("token", "new", "lab", "--scope", "scan", "--state", state).code == 2


def test_every_code_is_printed_with_its_meaning_and_advice() -> None:
    printed = run("codes").out
    for defect in DEFECTS.values():
        assert f"{defect.code} " in printed
        assert defect.meaning in printed
        assert defect.advice in printed
