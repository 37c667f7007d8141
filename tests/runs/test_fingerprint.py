import pytest
from tests.runs.sending import failure

from sickbay.contract.event import Failure
from sickbay.runs.failures.causes import is_secondary
from sickbay.runs.failures.fingerprint import fingerprint, normal, own_frames

TRACE = """Traceback (most recent call last):
  File "/home/ann/job/train.py", line 10, in main
    loop()
  File "/home/ann/job/loop.py", line {line}, in loop
    step(batch)
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1, in _call_impl
    return forward()
ValueError: no
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "cannot identify image file '/data/cam1/000817.jpg'",
            "cannot identify image file '/mnt/b/x/cam22/1.png'",
        ),
        (
            "image file a.jpg is truncated (12 bytes not processed)",
            "image file b-2.jpg is truncated (4711 bytes not processed)",
        ),
        (
            "mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)",
            "mat1 and mat2 shapes cannot be multiplied (8x512 and 1024x10)",
        ),
        (
            "size mismatch: torch.Size([3, 224, 224]) and [1, 224, 224]",
            "size mismatch: torch.Size([3, 512, 512]) and [4, 8, 9]",
        ),
        ("loss is nan on rank 3 at step 100", "loss is nan on rank 511 at step 7"),
        ("object at 0x7f12ab34 failed", "object at 0xdeadbeef failed"),
        ("checksum deadbeef00112233", "checksum 0123456789abcdef"),
        ("loss 1.5e-07 is below -3", "loss 22.25 is below 4"),
        ("C:\\data\\one.jpg is bad", "D:\\other\\two.jpg is bad"),
    ],
)
def test_what_differs_from_sample_to_sample_and_rank_to_rank_is_left_out(
    one: str, other: str
) -> None:
    assert normal(one) == normal(other)
    assert fingerprint(failure(one)) == fingerprint(failure(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("division by zero", "list index out of range"), ("no class cat", "no class dog")],
)
def test_what_differs_in_words_stays_apart(one: str, other: str) -> None:
    assert fingerprint(failure(one)) != fingerprint(failure(other))


def test_an_error_of_a_loader_worker_is_known_by_its_original() -> None:
    text = "Caught OSError in DataLoader worker process {}.\nOriginal {}OSError: image is truncated"
    one = normal(text.format(0, TRACE))
    assert one == normal(text.format(13, TRACE.replace("main", "other")))
    assert one == "OSError: image is truncated"


def test_frames_are_the_trainers_own_without_folder_and_line() -> None:
    assert own_frames(TRACE.format(line=20)) == ["train.py:main", "loop.py:loop"]
    assert own_frames(TRACE.format(line=20)) == own_frames(
        TRACE.format(line=99).replace("/home/ann/job", "/workspace")
    )
    foreign = TRACE.format(line=20).replace(
        "/home/ann/job", "/opt/venv/lib/python3.11/site-packages/kit"
    )
    assert own_frames(foreign) == ["train.py:main", "loop.py:loop", "module.py:_call_impl"]
    assert own_frames("") == []


@pytest.mark.parametrize(
    "body",
    [
        failure(
            "x", exception_type="torch.distributed.elastic.multiprocessing.errors.ChildFailedError"
        ),
        failure("NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error"),
        failure("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)"),
        failure("[../gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:3000"),
        failure("DataLoader worker (pid(s) 4242) exited unexpectedly"),
        failure("Signal 15 (SIGTERM) received by PID 77"),
        failure("The loss is not finite at step 4 on rank 1.", exception_type="AnomalyFound"),
    ],
)
def test_known_consequences_are_told_from_causes(body: Failure) -> None:
    assert is_secondary(body)


@pytest.mark.parametrize("text", ["image is truncated", "CUDA out of memory", "loss is nan", ""])
def test_causes_are_no_consequences(text: str) -> None:
    assert not is_secondary(failure(text))
    assert not is_secondary(failure(text, exception_type="AnomalyFound"))


def test_the_rank_that_found_an_anomaly_is_a_cause() -> None:
    words = "The loss is not finite at step 4."
    assert not is_secondary(failure(words, exception_type="AnomalyFound"))
    assert not is_secondary(failure("a file is missing on rank 1."))


def test_a_long_message_is_read_in_no_time() -> None:
    for text in ("/" * 10_000, "a" * 10_000, "1x" * 5000, "'" * 10_000, "[" + "1," * 4000):
        normal(text)
        is_secondary(failure(text))
