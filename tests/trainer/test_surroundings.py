"""Server, mode, spool and rank as the environment says them."""

from pathlib import Path

import pytest

from sickbay.trainer.surroundings import Mode, Rank, read

pytestmark = pytest.mark.usefixtures("kit")


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({}, Mode.OFFLINE),
        ({"SICKBAY_URL": "http://h"}, Mode.ONLINE),
        ({"SICKBAY_URL": "http://h", "SICKBAY_MODE": "offline"}, Mode.OFFLINE),
        ({"SICKBAY_URL": "http://h", "SICKBAY_MODE": "Disabled"}, Mode.DISABLED),
        ({"SICKBAY_MODE": "online"}, Mode.OFFLINE),
        ({"SICKBAY_URL": "http://h", "SICKBAY_MODE": "quietly"}, Mode.ONLINE),
    ],
)
def test_the_mode_is_what_is_said_and_possible(environment: dict[str, str], mode: Mode) -> None:
    assert read(environment).mode is mode


def test_the_token_is_not_shown() -> None:
    place = read({"SICKBAY_URL": "http://h", "SICKBAY_TOKEN": " sickbay_a_b\n"})
    assert place.token == "sickbay_a_b"  # noqa: S105 (a token of no server)
    assert "sickbay_a_b" not in repr(place)


def test_the_spool_is_where_it_is_said_or_in_the_users_cache() -> None:
    assert read({"SICKBAY_SPOOL": "/here"}).spool == Path("/here")
    assert read({"XDG_CACHE_HOME": "/cache"}).spool == Path("/cache/sickbay/spool")
    assert read({}).spool == Path.home() / ".cache" / "sickbay" / "spool"


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, Rank(0, 0, 1)),
        ({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"}, Rank(3, 1, 4)),
        ({"RANK": "3", "WORLD_SIZE": "2"}, Rank(3, 0, 4)),
        ({"RANK": "-1", "WORLD_SIZE": "many"}, Rank(0, 0, 1)),
        ({"RANK": "9" * 30}, Rank(0, 0, 1)),
        (
            {"SLURM_STEP_ID": "0", "SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "8"},
            Rank(5, 1, 8),
        ),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, Rank(0, 0, 1)),
        ({"SLURM_STEP_ID": "0", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", "RANK": "0",
          "WORLD_SIZE": "16"}, Rank(0, 0, 16)),
    ],
)  # fmt: skip
def test_the_rank_is_torchruns_or_else_sruns(environment: dict[str, str], rank: Rank) -> None:
    assert read(environment).rank == rank
