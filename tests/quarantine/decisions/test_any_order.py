"""Scans, decisions and undo in any order, against a model that fits on one page."""

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select
from tests.quarantine.factories import a_hash, a_record, scanned, the_data_set

from sickbay.contract.errors import IllegalMove
from sickbay.database import Database
from sickbay.quarantine import tally
from sickbay.quarantine.decisions.decide import Act, Pick, decide, decide_all
from sickbay.quarantine.decisions.repair import Facts, repair
from sickbay.quarantine.decisions.undo import latest, undo
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Action, Decision, Sample, Status, Tally

PATHS = tuple("abcd")
BLOCKING = ("image.truncated", "set.split-leak")
CODES = (*BLOCKING, "image.odd-mode")
FILES = st.fixed_dictionaries(
    {"a": st.tuples(st.frozensets(st.sampled_from(CODES)), st.sampled_from(["old", "new"]))},
    optional={
        path: st.tuples(st.frozensets(st.sampled_from(CODES)), st.sampled_from(["old", "new"]))
        for path in PATHS[1:]
    },
)


@dataclass(frozen=True)
class Stand:
    """What the model remembers of where a sample stands."""

    status: Status = Status.CLEAN
    content: str = ""
    """That its decision was taken on."""
    codes: frozenset[str] = frozenset()
    """That its approval covers."""


@dataclass
class Modelled:
    """One sample in the model."""

    stand: Stand = field(default_factory=Stand)
    content: str = ""
    blocking: frozenset[str] = frozenset()
    there: bool = True
    acts: list[tuple[str, Stand]] = field(default_factory=list)
    """Each act in force, newest last, with where the sample stood before it."""

    def true(self, stand: Stand) -> bool:
        same = stand.content == self.content
        return {
            Status.CLEAN: not self.blocking,
            Status.HELD: True,
            Status.APPROVED: same and self.blocking <= stand.codes,
            Status.REPAIRED: same,
            Status.EXCLUDED: same,
        }[stand.status]

    def goes(self, batch: str, status: Status) -> None:
        self.acts.append((batch, self.stand))
        codes = self.blocking if status is Status.APPROVED else frozenset()
        self.stand = Stand(status, self.content, codes)


class Quarantine(RuleBasedStateMachine):
    """The real database beside the model."""

    migrated: Path

    @initialize(files=FILES)
    def begin(self, files: dict[str, tuple[frozenset[str], str]]) -> None:
        self.folder = Path(tempfile.mkdtemp())
        shutil.copyfile(self.migrated, self.folder / "sickbay.db")
        self.database = Database(self.folder / "sickbay.db")
        self.model: dict[str, Modelled] = {}
        self.scan(files)

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)

    @rule(files=FILES)
    def scan(self, files: dict[str, tuple[frozenset[str], str]]) -> None:
        scanned(
            self.database,
            [a_record(path, *sorted(codes), content=text) for path, (codes, text) in files.items()],
            size=2,
        )
        for path, one in self.model.items():
            one.there = path in files
        for path, (codes, text) in files.items():
            self.scan_one(path, codes & set(BLOCKING), text)

    def scan_one(self, path: str, blocking: frozenset[str], content: str) -> None:
        one = self.model.setdefault(path, Modelled())
        blocked_before = bool(one.blocking)
        one.content, one.blocking = content, blocking
        if one.stand.status is Status.HELD:
            if blocked_before and not blocking:
                one.goes("scan", Status.CLEAN)
        elif not one.true(one.stand):
            approved = one.stand.status is Status.APPROVED
            one.goes("scan", Status.CLEAN if approved and not blocking else Status.HELD)

    def sample(self, path: str) -> Sample:
        with self.database.reading() as session:
            return session.scalars(select(Sample).where(Sample.path == path)).one()

    @property
    def key(self) -> int:
        return the_data_set(self.database).id

    @rule(
        paths=st.sets(st.sampled_from(PATHS), min_size=1),
        action=st.sampled_from([Action.HOLD, Action.APPROVE, Action.EXCLUDE, Action.REOPEN]),
    )
    def decide(self, paths: set[str], action: Action) -> None:
        known = sorted(path for path in paths if path in self.model and self.model[path].there)
        samples = [self.sample(path) for path in known]
        picks = [Pick(sample.id, sample.version) for sample in samples]
        if not picks:
            return
        allowed = all((self.model[path].stand.status, action) in LEADS for path in known)
        try:
            act = self.database.writing(
                lambda session: decide(session, self.key, picks, action, reviewer="anna")
            )
        except IllegalMove:
            assert not allowed
        else:
            assert allowed
            self.follow(act, known, action)

    def follow(self, act: Act, paths: list[str], action: Action) -> None:
        for path in paths:
            one = self.model[path]
            one.goes(act.batch, LEADS[one.stand.status, action])
        assert act.count == len(paths)

    @rule()
    def exclude_all_held(self) -> None:
        held = [
            path
            for path, one in self.model.items()
            if one.there and one.stand.status is Status.HELD
        ]
        if held:
            act = self.database.writing(
                lambda session: decide_all(
                    session, self.key, Filter(), len(held), Action.EXCLUDE, reviewer="anna"
                )
            )
            self.follow(act, held, Action.EXCLUDE)

    @rule(path=st.sampled_from(PATHS))
    def replace(self, path: str) -> None:
        one = self.model.get(path)
        if one is None or not one.there or one.stand.status is not Status.HELD:
            return
        sample = self.sample(path)
        act = self.database.writing(
            lambda session: repair(
                session,
                self.key,
                Pick(sample.id, sample.version),
                Facts(a_hash("mended"), 6),
                reviewer="anna",
            )
        )
        one.goes(act.batch, Status.REPAIRED)

    @precondition(lambda self: self.newest() is not None)
    @rule()
    def undo(self) -> None:
        batch = self.newest()
        assert batch is not None
        free = [
            one
            for one in self.model.values()
            if one.there and one.acts and one.acts[-1][0] == batch
        ]
        act = self.database.writing(lambda session: undo(session, self.key, batch, reviewer="anna"))
        assert free
        assert act.count == len(free)
        for one in free:
            _, was = one.acts.pop()
            one.stand = was if one.true(was) else replace(was, status=Status.HELD)

    def newest(self) -> str | None:
        with self.database.reading() as session:
            return latest(session, self.key, "anna")

    @invariant()
    def every_sample_stands_where_the_model_says(self) -> None:
        with self.database.reading() as session:
            rows = session.execute(select(Sample.path, Sample.status, Sample.gone))
            found = {row.path: (row.status, not row.gone) for row in rows}
        assert found == {path: (one.stand.status, one.there) for path, one in self.model.items()}

    @invariant()
    def the_tally_equals_a_count(self) -> None:
        with self.database.reading() as session:
            kept = Counter(
                {
                    (row.status, row.facet, row.value): row.samples
                    for row in session.scalars(select(Tally).where(Tally.samples != 0))
                }
            )
            counted: Counter[tuple[Status, str, str]] = Counter()
            for query in tally.counts(self.key):
                for _, status, facet, value, samples in session.execute(query):
                    counted[status, facet, value] = samples
        assert kept == counted

    @invariant()
    def the_history_replays_to_the_present(self) -> None:
        with self.database.reading() as session:
            for sample in session.scalars(select(Sample)):
                status = Status.CLEAN
                for decision in session.scalars(
                    select(Decision).where(Decision.sample_id == sample.id).order_by(Decision.id)
                ):
                    assert decision.was is status
                    status = decision.became
                assert status is sample.status


LEADS = {
    (Status.CLEAN, Action.HOLD): Status.HELD,
    (Status.CLEAN, Action.EXCLUDE): Status.EXCLUDED,
    (Status.HELD, Action.APPROVE): Status.APPROVED,
    (Status.HELD, Action.EXCLUDE): Status.EXCLUDED,
    (Status.APPROVED, Action.REOPEN): Status.HELD,
    (Status.REPAIRED, Action.REOPEN): Status.HELD,
    (Status.EXCLUDED, Action.REOPEN): Status.HELD,
}


def test_scans_decisions_and_undo_in_any_order_agree_with_the_model(migrated: Path) -> None:
    run_state_machine_as_test(
        type("Machine", (Quarantine,), {"migrated": migrated}),
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
