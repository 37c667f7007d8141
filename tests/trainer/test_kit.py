"""The kit from the outside: what a script logs is what a server has."""

import math
from pathlib import Path

import pytest
from tests.trainer.ward import Ward

import sickbay.trainer as sickbay
from sickbay.contract.event import Alert, Ending, Facts, Failure, FailureKind, Finish, Level


def test_what_is_logged_arrives_once_and_in_order(online: Ward, kit: Path) -> None:
    run = sickbay.init("first", dataset="cells", release="ab", config={"lr": 0.1})
    for step in range(1500):
        run.log({"train/loss": 1 / (step + 1), "lr": 0.1}, step=step)
    run.finish()
    assert online.points("train/loss") == [(step, 1 / (step + 1)) for step in range(1500)]
    assert len(online.points("lr")) == 1500
    (opening,) = online.openings
    assert (opening.name, opening.dataset, opening.config) == ("first", "cells", {"lr": 0.1})
    assert online.of(Finish) == [Finish(Ending.FINISHED, 3000, {})]
    assert not list(kit.iterdir())
