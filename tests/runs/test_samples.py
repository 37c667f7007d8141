"""Samples in training: which a step used, which are held for it, and where each was seen."""

import math
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from tests.quarantine.factories import (
    NAME,
    a_record,
    decided,
    scanned,
    status_of,
    the_data_set,
    the_sample,
)
from tests.runs.sending import Trainer, failure

from sickbay.contract.blame import Batches, Outcome, Verdict
from sickbay.contract.blame import Sample as Used
from sickbay.contract.errors import NotFound
from sickbay.contract.event import FailureKind
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.quarantine import policies
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.queue.page import page
from sickbay.quarantine.queue.place import place
from sickbay.quarantine.queue.sample import SampleView, view
from sickbay.quarantine.tables import Action, Sample, Source, Status, Tally
from sickbay.quarantine.tally import counts
from sickbay.runs.samples import find
from sickbay.runs.samples.seen import seen
from sickbay.runs.samples.suspects import MOST_BLAMED

REF = "0123456789abcdef"
PATHS = tuple(f"train/{number}.jpg" for number in range(6))


@pytest.fixture
def trainer(database: Database) -> Trainer:
    """A run on a data set of six clean samples."""
    scanned(database, [a_record(path) for path in PATHS])
    return Trainer(database, dataset=NAME)


def used(steps: dict[int, Sequence[int]], losses: Sequence[float] = ()) -> Batches:
    return Batches(
        array("q", steps),
        array("q", map(len, steps.values())),
        array("q", (place for places in steps.values() for place in places)),
        tuple(Used(path) for path in PATHS),
        array("d", losses),
    )


def spike(trainer: Trainer, *samples: Used, step: int = 7) -> None:
    trainer.log(failure("", what=FailureKind.LOSS_SPIKE, ref=REF, step=step, samples=samples))


def looked_at(database: Database, path: str) -> SampleView:
    with database.reading() as session:
        return view(session, the_data_set(database).id, the_sample(database, path).id)


def tally_is_right(database: Database) -> bool:
    with database.reading() as session:
        data_set_id = the_data_set(database).id
        counted = {
            tuple(row[1:4]): row[4]
            for query in counts(data_set_id)
            for row in session.execute(query)
        }
        kept = {
            (one.status, one.facet, one.value): one.samples
            for one in session.scalars(select(Tally).where(Tally.data_set_id == data_set_id))
            if one.samples
        }
    return counted == kept


def test_a_point_leads_to_the_samples_of_its_step_highest_loss_first(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(used({7: [0, 1, 2], 8: [3]}, [0.5, math.nan, 2.0, 1.0]))
    with database.reading() as session:
        found = find.of_step(session, trainer.run, 1, 7)
    assert [(one.path, one.status) for one in found.samples] == [
        (PATHS[1], Status.CLEAN),
        (PATHS[2], Status.CLEAN),
        (PATHS[0], Status.CLEAN),
    ]
    assert (found.step, found.total, found.outcome) == (7, 3, None)


def test_where_a_step_was_not_recorded_the_nearest_is_shown(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(used({10: [0], 20: [1]}), used({40: [2]}))
    with database.reading() as session:
        nearest = {
            step: find.of_step(session, trainer.run, 1, step).step
            for step in (-5, 12, 18, 29, 31, 99)
        }
    assert nearest == {-5: 10, 12: 10, 18: 20, 29: 20, 31: 40, 99: 40}


def test_ranks_are_told_apart_and_of_nothing_nothing_is_known(
    database: Database, trainer: Trainer
) -> None:
    other = Trainer(database, dataset=NAME, rank=1)
    trainer.log(used({7: [0]}))
    other.log(used({7: [1]}))
    with database.reading() as session:
        for rank, path in ((None, PATHS[0]), (0, PATHS[0]), (1, PATHS[1])):
            found = find.of_step(session, trainer.run, 1, 7, rank)
            assert [one.path for one in found.samples] == [path]
        with pytest.raises(NotFound):
            find.of_step(session, trainer.run, 1, 7, 2)
        with pytest.raises(NotFound):
            find.of_step(session, trainer.run, 2, 7)


def told_at(database: Database, trainer: Trainer, step: int, rank: int | None = None) -> list[str]:
    with database.reading() as session:
        found = find.of_step(session, trainer.run, 1, step, rank)
    assert found.total == len(found.samples)
    return [one.path for one in found.samples]


@pytest.mark.parametrize("apart", [False, True])
def test_of_a_step_that_is_told_again_what_was_told_last_counts(
    database: Database, trainer: Trainer, *, apart: bool
) -> None:
    """Whether both tellings come in one event or in two, and however other steps lie around."""
    columns = Batches(
        array("q", [7, 9, 7]),
        array("q", [2, 1, 1]),
        array("q", [0, 1, 2, 3]),
        tuple(Used(path) for path in PATHS),
    )
    trainer.log(*(used({7: [0, 1]}), used({9: [2]}), used({7: [3]})) if apart else (columns,))
    trainer.log(used({1: [4], 99: [4]}))
    assert told_at(database, trainer, 7) == [PATHS[3]]
    assert told_at(database, trainer, 9) == [PATHS[2]]


def test_of_ranges_that_overlap_the_one_with_the_nearest_step_counts(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(used({40: [0], 70: [1]}), used({10: [2], 90: [3]}), used({52: [4]}))
    assert told_at(database, trainer, 50) == [PATHS[4]]
    assert told_at(database, trainer, 88) == [PATHS[3]]
    assert told_at(database, trainer, 70) == [PATHS[1]]


def test_a_failure_shows_whom_it_names_although_their_batch_never_came(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(used({6: [0, 1]}), failure("bad", step=7, samples=(Used(PATHS[4]),)))
    with database.reading() as session:
        found = find.of_step(session, trainer.run, 1, 7)
        before = find.of_step(session, trainer.run, 1, 6)
    assert [(one.path, one.blamed) for one in found.samples] == [(PATHS[4], True)]
    assert (found.step, before.step, len(before.samples)) == (7, 6, 2)


def test_whom_a_verdict_blames_comes_before_what_its_batch_lost_with_it(
    database: Database, trainer: Trainer
) -> None:
    """A normalised batch is NaN as a whole; the verdict knows which sample made it so."""
    nan = tuple(Used(path, loss=math.nan) for path in PATHS[:3])
    trainer.log(used({7: [0, 1, 2]}, [math.nan] * 3), used({8: [3]}))
    trainer.log(failure("", what=FailureKind.NON_FINITE_LOSS, ref=REF, step=7, samples=nan))
    trainer.log(Verdict(REF, Outcome.REPRODUCED_ALONE, (Used(PATHS[2], loss=math.inf),)))
    with database.reading() as session:
        found = find.of_step(session, trainer.run, 1, 7)
        other = find.of_step(session, trainer.run, 1, 8)
    assert [(one.path, str(one.loss), one.blamed) for one in found.samples] == [
        (PATHS[2], "inf", True),
        (PATHS[0], "nan", False),
        (PATHS[1], "nan", False),
    ]
    assert found.outcome is Outcome.REPRODUCED_ALONE
    assert (other.outcome, other.samples[0].loss) == (None, None)


def test_losses_that_only_repeating_the_step_showed_are_those_of_its_samples(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(used({7: [2, 1, 0]}))
    spike(trainer, *(Used(PATHS[place]) for place in (2, 1, 0)))
    rows = [{"batch": "this", "row": 1, "loss": "nan"}, {"batch": "this", "row": 0, "loss": 0.5}]
    odd = [{"batch": "before", "row": 2, "loss": 9.0}, {"batch": "this", "row": 3}, 7]
    blamed = (Used(PATHS[1], loss=math.nan),)
    trainer.log(Verdict(REF, Outcome.REPRODUCED_ALONE, blamed, 3, {"ranking": rows + odd}))
    with database.reading() as session:
        found = find.of_step(session, trainer.run, 1, 7)
    assert [(one.path, str(one.loss)) for one in found.samples] == [
        (PATHS[1], "nan"),
        (PATHS[2], "0.5"),
        (PATHS[0], "None"),
    ]


def test_a_failure_leads_to_the_rank_that_failed_and_others_stay_clear_of_it(
    database: Database, trainer: Trainer
) -> None:
    other = Trainer(database, dataset=NAME, rank=1)
    trainer.log(used({7: [0]}), failure("", what=FailureKind.NON_FINITE_LOSS, step=7))
    other.log(used({7: [1, 2]}))
    spike(other, Used(PATHS[1]), Used(PATHS[2]))
    other.log(Verdict(REF, Outcome.NOT_REPRODUCED))
    with database.reading() as session:
        failed = find.of_step(session, trainer.run, 1, 7)
        clear = find.of_step(session, trainer.run, 1, 7, 0)
    assert (failed.rank, failed.outcome, failed.ranks) == (1, Outcome.NOT_REPRODUCED, (0, 1))
    assert (clear.rank, clear.outcome, len(clear.samples)) == (0, None, 1)


def test_a_failure_that_names_one_sample_holds_it_with_the_evidence(
    database: Database, trainer: Trainer
) -> None:
    trainer.log(failure("bad", step=3, samples=(Used(PATHS[0]),)))
    sample = looked_at(database, PATHS[0])
    assert sample.status is Status.HELD
    (finding,) = sample.findings
    assert (finding.code, finding.source) == ("training.loader-error", Source.TRAINING)
    assert finding.message == "The loader raised on it at step 3 of a run (OSError)."
    assert (finding.detail["attempt"], finding.detail["step"]) == (1, 3)
    assert sample.history[0].reviewer == "run a run"
    assert tally_is_right(database)


def test_a_batch_is_no_evidence_against_any_of_its_samples(
    database: Database, trainer: Trainer
) -> None:
    spike(trainer, Used(PATHS[0]), Used(PATHS[1]))
    assert {status_of(database, path) for path in PATHS} == {Status.CLEAN}


@pytest.mark.parametrize(
    ("outcome", "held"),
    [
        (Outcome.REPRODUCED_ALONE, True),
        (Outcome.ONLY_IN_THIS_STATE, True),
        (Outcome.NOT_REPRODUCED, False),
        (Outcome.DIFFERS_ON_REPEAT, False),
    ],
)
def test_a_verdict_holds_whom_it_blames_and_nobody_where_it_clears_the_data(
    database: Database, trainer: Trainer, outcome: Outcome, *, held: bool
) -> None:
    spike(trainer, *(Used(path) for path in PATHS))
    trainer.log(Verdict(REF, outcome, tuple(Used(path, loss=9.0) for path in PATHS), 5))
    statuses = [status_of(database, path) for path in PATHS]
    assert statuses.count(Status.HELD) == (MOST_BLAMED if held else 0)
    with database.reading() as session:
        found = seen(session, the_sample(database, PATHS[0]).id)
    assert [(one.what, one.step, one.outcome) for one in found] == [("loss-spike", 7, outcome)]
    assert tally_is_right(database)


def test_a_later_verdict_replaces_what_the_first_said(database: Database, trainer: Trainer) -> None:
    spike(trainer, Used(PATHS[0]), Used(PATHS[1]))
    for outcome in (Outcome.ONLY_IN_THIS_STATE, Outcome.REPRODUCED_ALONE):
        trainer.log(Verdict(REF, outcome, (Used(PATHS[0], loss=math.inf),)))
    (finding,) = looked_at(database, PATHS[0]).findings
    assert finding.detail["verdict"] == "reproduced-alone"
    assert finding.detail["loss"] == "inf"
    assert tally_is_right(database)


def test_an_approval_stands_against_the_same_code_on_the_same_content(
    database: Database, trainer: Trainer
) -> None:
    fails = failure("bad", step=3, samples=(Used(PATHS[0]),))
    trainer.log(fails)
    decided(database, [PATHS[0]], Action.APPROVE)
    trainer.log(fails)
    assert status_of(database, PATHS[0]) is Status.APPROVED
    other = failure("", what=FailureKind.NON_FINITE_INPUT, samples=(Used(PATHS[0]),))
    trainer.log(other)
    assert status_of(database, PATHS[0]) is Status.HELD


def test_an_exclusion_is_not_undone_by_another_failure(
    database: Database, trainer: Trainer
) -> None:
    decided(database, [PATHS[0]], Action.EXCLUDE)
    trainer.log(failure("bad", samples=(Used(PATHS[0]),)))
    assert status_of(database, PATHS[0]) is Status.EXCLUDED


def test_a_policy_may_make_a_code_silent(database: Database, trainer: Trainer) -> None:
    data_set_id = the_data_set(database).id
    silent = Policy(severities={"training.loader-error": "silent"})
    database.writing(
        lambda session: policies.change(session, data_set_id, silent, expected=0, by="anna")
    )
    trainer.log(failure("bad", samples=(Used(PATHS[0]),)))
    assert looked_at(database, PATHS[0]).findings == ()


def test_what_failed_most_comes_first_in_the_queue_and_keeps_its_place(
    database: Database, trainer: Trainer
) -> None:
    for number in (4, 4, 2):
        trainer.log(failure("bad", samples=(Used(PATHS[number]),)))
    decided(database, [PATHS[0]], Action.HOLD)
    order = [PATHS[4], PATHS[2], PATHS[0]]
    with database.reading() as session:
        data_set_id = the_data_set(database).id
        met: list[tuple[str, int]] = []
        after = None
        while True:
            shown = page(session, data_set_id, Filter(), after, 1)
            met += [(tile.path, shown.first) for tile in shown.tiles]
            if (after := shown.next_after) is None:
                break
        assert met == [(path, number) for number, path in enumerate(order, 1)]
        for number, path in enumerate(order, 1):
            here = place(session, data_set_id, Filter(), the_sample(database, path).id)
            assert (here.number, here.total) == (number, 3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 3), min_size=len(PATHS), max_size=len(PATHS)), st.integers(1, 4))
def test_any_walk_through_the_queue_meets_every_sample_once(
    database: Database, failures: list[int], size: int
) -> None:
    with database.reading() as session:
        known = session.scalar(select(Sample.id).limit(1))
    if known is None:
        scanned(database, [a_record(path, "image.truncated") for path in PATHS])

    def set_failures(session: Session) -> None:
        for path, number in zip(PATHS, failures, strict=True):
            session.execute(update(Sample).where(Sample.path == path).values(failures=number))

    database.writing(set_failures)
    expected = [path for _, path in sorted(zip([-one for one in failures], PATHS, strict=True))]
    with database.reading() as session:
        data_set_id = the_data_set(database).id
        found: list[str] = []
        after = None
        while True:
            shown = page(session, data_set_id, Filter(), after, size)
            assert shown.first == len(found) + 1
            found += [tile.path for tile in shown.tiles]
            if (after := shown.next_after) is None:
                break
    assert found == expected
