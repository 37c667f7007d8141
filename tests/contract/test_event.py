"""Events as they travel: what is written is what is read, and a bad one is rejected alone."""

import json
import math
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sickbay.contract.blame import Batches, Outcome, Sample, Verdict
from sickbay.contract.errors import BadInput
from sickbay.contract.event import (
    MAX_BYTES,
    MAX_EVENTS,
    MAX_POINTS,
    About,
    Alert,
    Body,
    Ending,
    Event,
    EventKind,
    Facts,
    Failure,
    FailureKind,
    Finish,
    Heartbeat,
    Level,
    Points,
)
from sickbay.contract.event_batch import (
    Receipt,
    Rejection,
    from_json,
    read_batch,
    read_lines,
    receipt_from_json,
)
from sickbay.contract.fields import MAX_COUNT
from sickbay.contract.opening import Opened, Opening, opened_from_json, opening_from_json
from sickbay.contract.report import Change, Passed, Report, Stage

_INT64 = st.integers(min_value=-(1 << 63), max_value=(1 << 63) - 1)
# JSON has one word for NaN, so what is read holds one kind of it.
_ANY_FLOAT = st.floats().map(lambda number: math.nan if math.isnan(number) else number)
_TIMES = st.floats(allow_nan=False, allow_infinity=False)
_COUNTS = st.dictionaries(st.sampled_from(["queue", "spool", "refused"]), st.integers(0, MAX_COUNT))
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
_JSON = st.dictionaries(_TEXT, st.one_of(st.booleans(), _INT64, _TIMES, _TEXT), max_size=4)


@st.composite
def _points(draw: st.DrawFn) -> Points:
    rows = draw(st.lists(st.tuples(_INT64, _ANY_FLOAT, _TIMES), min_size=1, max_size=30))
    steps, values, times = zip(*rows, strict=True)
    return Points("train/loss", array("q", steps), array("d", values), array("d", times))


_FAILURES = st.builds(
    Failure,
    what=st.sampled_from(FailureKind),
    ref=st.just("") | st.just("0123456789abcdef"),
    exception_type=_TEXT,
    message=_TEXT,
    traceback=_TEXT,
    step=st.none() | _INT64,
    worker=st.none() | st.integers(0, 64),
    samples=st.lists(
        st.builds(Sample, path=st.just("a/b.jpg"), loss=st.none() | _ANY_FLOAT), max_size=3
    ).map(tuple),
    value=st.none() | _ANY_FLOAT,
    gradient_norm=st.none() | _ANY_FLOAT,
    rule=_JSON,
    window=st.lists(_ANY_FLOAT, max_size=5).map(lambda values: array("d", values)),
    detail=_JSON,
)
_SAMPLES = st.lists(
    st.builds(Sample, path=st.just("a/b.jpg"), loss=st.none() | _ANY_FLOAT), max_size=3
).map(tuple)
_REFS = st.from_regex(r"[0-9a-f]{16}", fullmatch=True)


@st.composite
def _batches(draw: st.DrawFn) -> Batches:
    """Steps with their samples, some of them used several times."""
    paths = tuple(Sample(f"{number}.jpg") for number in range(draw(st.integers(1, 4))))
    place = st.integers(0, len(paths) - 1)
    steps = draw(st.lists(st.tuples(_INT64, st.lists(place, max_size=4)), min_size=1, max_size=5))
    used = [one for _, places in steps for one in places]
    losses = [draw(_ANY_FLOAT) for _ in used] if draw(st.booleans()) else []
    return Batches(
        array("q", (step for step, _ in steps)),
        array("q", (len(places) for _, places in steps)),
        array("q", used),
        paths,
        array("d", losses),
    )


_VERDICTS = st.builds(
    Verdict,
    failure=_REFS,
    outcome=st.sampled_from(Outcome),
    samples=_SAMPLES,
    forwards=st.integers(0, 99),
    detail=_JSON,
)
_STAGES = st.builds(
    Stage, st.just("one batch"), st.sampled_from(Passed), _TEXT, st.none() | st.floats(0, 1e6)
)
_REPORTS = st.builds(
    Report, st.just("Triage"), st.sampled_from(Passed), st.lists(_STAGES, max_size=3).map(tuple)
)
_CHANGES = st.builds(Change, st.just("learning-rate"), _TEXT, _TEXT, _TEXT, st.none() | _INT64)
_BODIES: st.SearchStrategy[Body] = st.one_of(
    _batches(),
    _VERDICTS,
    _REPORTS,
    _CHANGES,
    _points(),
    _FAILURES,
    st.builds(Alert, st.just("High loss"), _TEXT, st.sampled_from(Level), st.none() | _INT64),
    st.builds(Heartbeat, st.integers(0, MAX_COUNT), _COUNTS),
    st.builds(Facts, st.sampled_from(About), _JSON),
    st.builds(Finish, st.sampled_from(Ending), st.integers(0, MAX_COUNT), _COUNTS),
)
_EVENTS = st.builds(Event, st.integers(1, 1 << 60), st.integers(0, 1000), _TIMES, _BODIES)


@given(st.lists(_EVENTS, max_size=6))
def test_what_is_written_is_what_is_read(events: list[Event]) -> None:
    lines = [event.to_line() for event in events]
    whole = b'{"attempt":3,"events":[' + b",".join(line.rstrip(b"\n") for line in lines) + b"]}"
    for batch in (read_batch(whole), read_lines(b"".join(lines), 3)):
        assert batch.attempt == 3
        assert batch.rejected == ()
        assert [event.digest() for event in batch.events] == [event.digest() for event in events]
        assert [event.to_line() for event in batch.events] == lines
        assert [event.kind for event in batch.events] == [event.kind for event in events]


def _plain(**changes: Any) -> dict[str, Any]:
    return {
        "seq": 1,
        "rank": 0,
        "kind": "points",
        "time": 1.5,
        "series": "loss",
        "steps": [1, 2],
        "values": [0.5, "nan"],
        "times": [1.0, 2.0],
        **changes,
    }


def test_points_hold_numbers_that_json_has_not() -> None:
    body = from_json(_plain(steps=[1, 2, 3], values=["nan", "inf", "-inf"], times=[1, 2, 3])).body
    assert isinstance(body, Points)
    assert math.isnan(body.values[0])
    assert list(body.values[1:]) == [math.inf, -math.inf]
    assert (len(body), from_json(_plain()).kind) == (3, EventKind.POINTS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seq": 0}, "seq is not a whole number of at least 1."),
        ({"seq": True}, "seq is not a whole number of at least 1."),
        ({"seq": 1.0}, "seq is not a whole number of at least 1."),
        ({"rank": -1}, "rank is not a whole number of at least 0."),
        ({"rank": None}, "The event lacks rank."),
        ({"time": "now"}, "time is not a finite number."),
        ({"kind": "rumour"}, "kind is none of points, failure"),
        ({"kind": ["points"]}, "kind is none of points, failure"),
        ({"series": ""}, "series is empty"),
        ({"series": "a\nb"}, "series is empty or holds a control character."),
        ({"series": "x" * 256}, "series is not a text of at most 255 characters."),
        ({"steps": [1.0, 2]}, "steps holds something that is not such a number."),
        ({"steps": [True, 2]}, "steps holds true or false."),
        ({"steps": [1 << 63, 2]}, "steps holds something that is not such a number."),
        ({"values": ["NaN", 1]}, "values holds something that is not such a number."),
        ({"values": [None, 1]}, "values holds something that is not such a number."),
        ({"times": [1.0, math.inf]}, "times holds a number that is not finite."),
        ({"times": [1.0]}, "steps, values and times are not of one length above 0."),
        ({"steps": [], "values": [], "times": []}, "not of one length above 0."),
        ({"steps": [1] * (MAX_POINTS + 1)}, "steps is not a list of at most 10,000 items."),
        ({"colour": "red"}, "The event has a field that is not known here."),
    ],
)
def test_a_bad_event_says_what_is_wrong(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        from_json(_plain(**changes))
    assert sentence in caught.value.sentence
    assert "red" not in caught.value.sentence


@pytest.mark.parametrize(
    "failure",
    [
        {"what": "exploded"},
        {"samples": [{"path": "../up.jpg"}]},
        {"samples": [{"path": "a.jpg", "sha256": "AB"}]},
        {"samples": [{"path": "a.jpg", "colour": 1}]},
        {"samples": ["a.jpg"]},
        {"samples": [{"path": "a.jpg"}] * 1001},
        {"value": "high"},
        {"rule": []},
        {"detail": {"text": "x" * 9000}},
        {"message": "x" * 10_001},
        {"window": [1, "two"]},
        {"step": 1.5},
    ],
)
def test_a_bad_failure_is_refused(failure: dict[str, Any]) -> None:
    base = {"seq": 1, "rank": 0, "kind": "failure", "time": 1, "what": "other"}
    assert isinstance(from_json(base).body, Failure)
    with pytest.raises(BadInput):
        from_json({**base, **failure})


def test_a_bad_event_is_rejected_alone() -> None:
    events = [_plain(), _plain(seq=2, steps=["one", 2]), 7, _plain(seq=4)]
    batch = read_batch(json.dumps({"attempt": 1, "events": events}).encode())
    assert [event.seq for event in batch.events] == [1, 4]
    assert batch.rejected == (
        Rejection(2, "steps holds something that is not such a number."),
        Rejection(None, "The event is not a JSON object."),
    )


def test_a_bad_line_is_rejected_alone() -> None:
    good = json.dumps(_plain()).encode()
    body = good + b"\n\n{broken\n" + b'{"seq": NaN}\n' + good.replace(b'"seq": 1', b'"seq": 9')
    batch = read_lines(body, 2)
    assert [event.seq for event in batch.events] == [1, 9]
    assert [rejection.seq for rejection in batch.rejected] == [None, None]
    assert batch.rejected[0].error.startswith("Line 2: The JSON cannot be read")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"attempt": 0, "events": []}',
        b'{"attempt": 1}x',
        b'{"attempt": 1, "events": {}}',
        b'{"attempt": 1, "events": [], "more": 1}',
        b'{"attempt": 1, "events": [NaN]}',
        b'{"attempt": 1, "events": [' + b"1," * MAX_EVENTS + b"1]}",
        b" " * (MAX_BYTES + 1),
    ],
)
def test_a_body_that_is_no_batch_is_refused_as_a_whole(body: bytes) -> None:
    with pytest.raises(BadInput):
        read_batch(body)


def test_too_many_lines_are_refused_as_a_whole() -> None:
    with pytest.raises(BadInput, match="at most 1,000 events"):
        read_lines(b"{}\n" * (MAX_EVENTS + 1), 1)


def test_the_digest_tells_contents_apart() -> None:
    events = [
        _plain(),
        _plain(time=2.5),
        _plain(series="other"),
        _plain(values=[0.5, "inf"]),
        _plain(steps=[1, 3]),
        _plain(times=[1.0, 2.5]),
    ]
    assert len({from_json(event).digest() for event in events}) == len(events)
    assert from_json(_plain()).digest() == from_json(_plain(values=[0.5, "nan"])).digest()


def test_a_receipt_is_read_as_it_was_written() -> None:
    receipt = Receipt(3, 1, (Rejection(7, "conflict"), Rejection(None, "Line 2: bad")))
    assert receipt_from_json(json.loads(json.dumps(receipt.to_json()))) == receipt
    with pytest.raises(BadInput):
        receipt_from_json({"accepted": "all"})


_OPENING = Opening("run", "launch", "process", rank=1, world_size=2, config={"lr": 0.1})


def test_an_opening_is_read_as_it_was_written() -> None:
    assert opening_from_json(json.loads(json.dumps(_OPENING.to_json()))) == _OPENING
    least = {"name": "run", "launch": "a", "process": "b"}
    assert opening_from_json({**_OPENING.to_json(), **least, "dataset": None}).name == "run"


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": " "},
        {"name": "a\nb"},
        {"name": "x" * 201},
        {"launch": None},
        {"rank": -1},
        {"world_size": 0},
        {"resume": 1},
        {"config": [1]},
        {"environment": {"x": "y" * 300_000}},
        {"started": "today"},
        {"colour": "red"},
    ],
)
def test_a_bad_opening_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        opening_from_json({**_OPENING.to_json(), **change})


def test_the_answer_to_an_opening_is_read_as_it_was_written() -> None:
    opened = Opened("ab12", 3, "http://127.0.0.1/runs/ab12")
    assert opened_from_json(opened.to_json()) == opened
    with pytest.raises(BadInput):
        opened_from_json({"run": "ab12", "attempt": 0})


def _used(**changes: Any) -> dict[str, Any]:
    paths = [{"path": "a.jpg"}, {"path": "b.jpg"}]
    columns = {"steps": [7], "counts": [2], "samples": [0, 1], "paths": paths}
    return {"seq": 1, "rank": 0, "kind": "batches", "time": 1.5, **columns, **changes}


def test_which_samples_a_step_used_is_read() -> None:
    body = from_json(_used(losses=[0.5, "nan"])).body
    assert isinstance(body, Batches)
    assert [body.paths[place].path for place in body.samples] == ["a.jpg", "b.jpg"]


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": [1]},
        {"counts": [-1]},
        {"counts": []},
        {"steps": []},
        {"samples": [0, 2]},
        {"samples": [-1, 0]},
        {"losses": [0.5]},
        {"paths": [{"path": "../a.jpg"}, {"path": "b.jpg"}]},
    ],
)
def test_columns_of_batches_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        from_json(_used(**changes))


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "verdict", "failure": "", "outcome": "reproduced-alone", "forwards": 1},
        {"kind": "verdict", "failure": "0" * 16, "outcome": "guilty", "forwards": 1},
        {"kind": "verdict", "failure": "0" * 16, "outcome": "reproduced-alone", "forwards": -1},
        {"kind": "change", "what": " "},
        {"kind": "report", "title": "", "outcome": "passed"},
        {"kind": "report", "title": "Triage", "outcome": "passed", "stages": [{"name": "a"}]},
        {"kind": "failure", "what": "other", "ref": "not hex"},
    ],
)
def test_verdicts_changes_and_reports_that_say_nothing_are_refused(event: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        from_json({"seq": 1, "rank": 0, "time": 1.5, **event})
