"""The server is away, hangs, refuses or talks nonsense: training goes on and nothing is lost."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import Facts, Finish


def _until_asked(ward: Ward, times: int) -> None:
    while ward.requests < times:
        time.sleep(0.01)


@pytest.mark.parametrize(
    "mood",
    ["500", "503", "429", "408", "garbage", "nested", "portal", "proxy", "hanging"],
)
def test_after_an_outage_everything_is_there_once(online: Ward, kit: Path, mood: str) -> None:
    online.mood = mood
    run = sickbay.init("outage")
    for step in range(3000):
        run.log({"loss": float(step)}, step=step)
    _until_asked(online, 1 if mood == "hanging" else 2)
    online.mood = "well"
    while not online.points("loss"):
        time.sleep(0.01)
    online.mood = mood
    run.log({"loss": 3000.0}, step=3000)
    run.flush()
    _until_asked(online, online.requests + 1)
    online.mood = "well"
    while len(online.points("loss")) < 3001:
        time.sleep(0.01)
    run.finish()
    assert online.points("loss") == [(step, float(step)) for step in range(3001)]
    assert len(online.of(Finish)) == 1
    assert not list(kit.iterdir())


def test_a_run_that_is_left_while_the_server_takes_its_time_waits_for_it(online: Ward) -> None:
    online.mood = "slow"
    run = sickbay.init("short")
    run.log({"loss": 1.0}, step=0)
    _until_asked(online, 1)
    leaving = threading.Thread(target=run.finish)
    leaving.start()
    leaving.join(2)
    online.mood = "well"
    leaving.join()
    assert online.points("loss") == [(0, 1.0)]
    assert len(online.of(Finish)) == 1


_LEAVING = """
import sickbay.trainer as sickbay
run = sickbay.init("held-back")
while run.attempt is None: pass
print("there", flush=True)
input()
run.log({"loss": 1}, step=0)
run.finish()
"""


def test_a_process_that_is_held_back_while_it_leaves_sends_all(online: Ward, kit: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _LEAVING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        child.stdout.readline()
        while not online.of(Facts):
            time.sleep(0.01)
        online.mood, asked = "slow", online.requests
        child.stdin.write(b"go\n")
        child.stdin.flush()
        _until_asked(online, asked + 1)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(6)
        os.kill(child.pid, signal.SIGCONT)
        online.mood = "well"
        assert child.wait() == 0
    assert online.points("loss") == [(0, 1.0)]
    assert not list(kit.iterdir())


def test_the_server_may_say_how_long_to_wait(online: Ward) -> None:
    online.mood, online.retry_after = "503", "1"
    run = sickbay.init("wait")
    _until_asked(online, 1)
    begun = time.monotonic()
    _until_asked(online, 2)
    assert time.monotonic() - begun > 0.9
    online.mood, online.retry_after = "well", None
    run.finish()


def test_what_an_absent_server_did_not_get_is_kept_and_said(
    kit: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SICKBAY_URL", "http://127.0.0.1:9")
    with caplog.at_level(logging.WARNING, "sickbay"), sickbay.init("absent") as run:
        run.log({"loss": 1.0})
    (folder,) = kit.iterdir()
    assert list(folder.glob("*.spool"))
    assert f"sickbay sync {folder}" in caplog.text
    assert oct(folder.stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize("mood", ["401", "403", "404"])
def test_a_server_that_says_no_is_not_asked_again_and_all_is_kept(
    online: Ward, kit: Path, mood: str, caplog: pytest.LogCaptureFixture
) -> None:
    online.mood = mood
    with caplog.at_level(logging.WARNING, "sickbay"), sickbay.init("refused") as run:
        _until_asked(online, 1)
        run.log({"loss": 1.0})
    assert online.requests == 1
    assert "nothing is sent any more: as told" in caplog.text
    assert list(kit.glob("*/*.spool"))


def test_a_token_that_expires_in_the_middle_harms_nobody(online: Ward, kit: Path) -> None:
    run = sickbay.init("expired")
    run.log({"loss": 1.0}, step=0)
    while not online.points("loss"):
        time.sleep(0.01)
    online.mood = "401"
    run.log({"loss": 2.0}, step=1)
    run.finish()
    assert online.points("loss") == [(0, 1.0)]
    assert list(kit.glob("*/*.spool"))


def test_a_batch_that_is_too_large_for_a_proxy_goes_in_halves(online: Ward) -> None:
    online.largest = 5000
    with sickbay.init("proxy") as run:
        for step in range(2000):
            run.log({f"series/{step % 50}": float(step)}, step=step)
    assert sum(len(online.points(f"series/{n}")) for n in range(50)) == 2000


def test_an_event_that_no_server_takes_is_counted_and_stops_nothing(online: Ward) -> None:
    online.largest = 150
    run = sickbay.init("never")
    run.log({"loss": 1.0}, step=0)
    while not online.refused_alone:
        time.sleep(0.01)
    online.largest = 1 << 20
    run.log({"loss": 2.0}, step=1)
    while online.points("loss")[-1:] != [(1, 2.0)]:
        time.sleep(0.01)
    run.finish()
    assert online.of(Finish)[0].dropped["rejected"] >= 1


def test_an_address_that_is_none_keeps_the_run_on_disk(
    kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICKBAY_URL", "ftp://nowhere")
    with sickbay.init("address") as run:
        run.log({"loss": 1.0})
    assert list(kit.glob("*/*.spool"))
