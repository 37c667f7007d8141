"""DataLoader's own words, taken apart."""

import pytest

from sickbay.trainer.traced import loader_text, notes
from sickbay.trainer.traced.notes import Note

_WRAPPED = """Caught UnidentifiedImageError in DataLoader worker process 3.
Original Traceback (most recent call last):
  File "/lib/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "job.py", line 3, in __getitem__
    raise ValueError("UnidentifiedImageError: not this one")
PIL.UnidentifiedImageError: cannot identify image file '/data/cells/b 2.jpg'
"""


def test_class_worker_text_and_file_are_read() -> None:
    found = loader_text.wrapped(_WRAPPED)
    assert found is not None
    assert (found.type, found.worker) == ("PIL.UnidentifiedImageError", 3)
    assert found.message == "cannot identify image file '/data/cells/b 2.jpg'"
    assert found.path == "/data/cells/b 2.jpg"


def test_the_pinning_threads_words_are_read() -> None:
    found = loader_text.wrapped(
        "Caught RuntimeError in pin memory thread for device 0.\nOriginal T"
    )
    assert found is not None
    assert (found.type, found.worker, found.path) == ("RuntimeError", None, None)


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("DataLoader worker (pid(s) 12, 345) exited unexpectedly", ((12, 345), None)),
        ("DataLoader worker (pid 77) is killed by signal: Killed. ", ((77,), None)),
        ("DataLoader timed out after 2.5 seconds", ((), 2.5)),
    ],
)
def test_workers_that_are_gone_are_read(text: str, gone: tuple[object, object]) -> None:
    found = loader_text.gone(text)
    assert found is not None
    assert (found.pids, found.seconds) == gone


@pytest.mark.parametrize(
    "text", ["", "Caught", "caught a cold in DataLoader", "pid 3", "x" * 10**6]
)
def test_other_text_is_left_alone(text: str) -> None:
    assert loader_text.wrapped(text) is None
    assert loader_text.gone(text) is None
    assert notes.read(text) is None


def test_the_line_that_names_a_sample_is_read_back_whatever_the_name() -> None:
    note = Note(
        "0123456789abcdef", "loader-error", ("a', 'b.png", "ü (x, ref 1).png"), None, 2, 1, 9
    )
    assert notes.read(f"ValueError: bad\n{note.line()}\n") == note


def test_a_line_that_somebody_made_up_harms_nobody() -> None:
    assert notes.read("sickbay: __import__('os') (loader-error, ref 0123456789abcdef)") is None
    assert notes.read("sickbay: 'a' (loader-error, index x, ref 0123456789abcdef)") is None
