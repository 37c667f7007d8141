"""What tells one launch from another."""

from sickbay.trainer.launch import launch_id

_TORCHRUN = {
    "WORLD_SIZE": "2",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RUN_ID": "none",
    "TORCHELASTIC_RESTART_COUNT": "0",
}


def test_torchruns_id_and_restart_count_make_a_launch() -> None:
    environment = {**_TORCHRUN, "TORCHELASTIC_RUN_ID": "job7", "TORCHELASTIC_RESTART_COUNT": "2"}
    assert launch_id(2, environment=environment) == "elastic:job7:2"


def test_slurms_job_step_and_restart_make_a_launch() -> None:
    environment = {"SLURM_JOB_ID": "812", "SLURM_STEP_ID": "0", "SLURM_RESTART_COUNT": "1"}
    assert launch_id(4, environment=environment) == "slurm:812.0:1"
    assert launch_id(1, environment={"SLURM_JOB_ID": "812"}) == "slurm:812.batch:0"


def test_a_process_alone_draws_a_launch_each_time() -> None:
    assert launch_id(1, environment={}) != launch_id(1, environment={})


def test_ranks_of_one_host_share_what_their_launcher_is() -> None:
    first, second = (launch_id(2, environment={**_TORCHRUN, "RANK": rank}) for rank in ("0", "1"))
    restarted = launch_id(2, environment={**_TORCHRUN, "TORCHELASTIC_RESTART_COUNT": "1"})
    assert first == second
    assert first.startswith("launcher:")
    assert restarted != first


def test_ranks_of_several_hosts_share_at_least_where_they_meet() -> None:
    environment = {**_TORCHRUN, "WORLD_SIZE": "4"}
    assert launch_id(4, environment=environment) == launch_id(4, environment=environment)
    assert launch_id(4, environment=environment).startswith("address:")


def test_a_launch_may_be_given() -> None:
    assert launch_id(8, environment={**_TORCHRUN, "SICKBAY_LAUNCH": "mine"}) == "mine"


def test_a_second_run_of_one_name_in_one_process_is_another_launch() -> None:
    environment = {"SICKBAY_LAUNCH": "mine"}
    assert launch_id(1, 2, environment) == "mine#2"


def test_ranks_that_nothing_connects_are_launches_of_their_own() -> None:
    assert launch_id(4, environment={}).startswith("random:")
