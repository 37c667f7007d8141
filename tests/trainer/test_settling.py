"""What was told has arrived before a process that may be killed goes on."""

from pathlib import Path

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import Alert, Failure
from sickbay.trainer.spool import payloads


def test_all_that_was_told_before_is_at_the_server_and_what_comes_after_goes_on(
    online: Ward,
) -> None:
    run = sickbay.init("settled")
    for number in range(5):
        run.log({"loss": 1.0}, step=number)
        run.failure("other", message=f"the {number}th", step=number)
        run.settle()
        assert len(online.of(Failure)) == number + 1
        assert len(online.points("loss")) == number + 1
    run.alert("afterwards")
    run.finish()
    assert len(online.of(Alert)) == 1


@pytest.mark.parametrize("mood", ["503", "portal", "401"])
def test_where_the_server_takes_nothing_it_is_not_waited_for(
    online: Ward, kit: Path, mood: str
) -> None:
    """Without a limit of its own this would wait for a day."""
    online.mood = mood
    run = sickbay.init("away")
    run.failure("other", message="kept", step=1)
    run.settle(timeout=86_400)
    written = b"".join(path.read_bytes() for path in kit.rglob("*.spool"))
    assert any(b'"kept"' in payload for payload in payloads(written))
    run.finish()


def test_a_run_that_takes_nothing_has_nothing_to_wait_for(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_MODE", "offline")
    run = sickbay.init("offline")
    run.failure("other", message="kept", step=1)
    run.settle(timeout=86_400)
    assert b'"kept"' in b"".join(path.read_bytes() for path in kit.rglob("*.spool"))
    run.finish()
    run.settle(timeout=86_400)
    monkeypatch.setenv("SICKBAY_MODE", "disabled")
    sickbay.init("disabled").settle(timeout=86_400)
