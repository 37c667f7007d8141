"""What alerts cost: a flood of failures, and an hour in which nothing happens.

Run with ``pytest tests/benchmarks/test_alerts.py --benchmark-enable``.
"""

from datetime import timedelta

from pytest_benchmark.fixture import BenchmarkFixture
from tests.runs.sending import Trainer, failure

from sickbay.alerts import channels, rules
from sickbay.alerts.rules import Draft
from sickbay.alerts.service import Alerts
from sickbay.alerts.tables import ChannelKind, RuleKind
from sickbay.database import Database
from sickbay.database.tables import now


def test_ten_thousand_failures_become_one_message(
    benchmark: BenchmarkFixture, database: Database
) -> None:
    trainer = Trainer(database)
    _rules(database, RuleKind.FAILURE)
    for _ in range(10):
        trainer.log(*[failure(step=step) for step in range(1000)])
    later = now() + timedelta(seconds=6)
    alerts = Alerts(database, "http://127.0.0.1", clock=lambda: later)
    assert benchmark.pedantic(alerts.look) == 1  # type: ignore[no-untyped-call]
    alerts.close()


def test_a_look_at_which_there_is_nothing_new(
    benchmark: BenchmarkFixture, database: Database
) -> None:
    for number in range(50):
        Trainer(database, f"run {number}")
    _rules(database, *RuleKind, *RuleKind)
    alerts = Alerts(database, "http://127.0.0.1")
    alerts.look()
    assert benchmark(alerts.look) == 0
    alerts.close()


def _rules(database: Database, *kinds: RuleKind) -> None:
    values = {"url": "http://127.0.0.1:9/"}
    channel = database.writing(
        lambda session: channels.create(
            session, name="hook", kind=ChannelKind.WEBHOOK, values=values, by="me"
        )
    )
    for kind in kinds:
        draft = Draft(kind, [channel], threshold=10)
        database.writing(lambda session, draft=draft: rules.create(session, draft, by="me"))  # type: ignore[misc]
