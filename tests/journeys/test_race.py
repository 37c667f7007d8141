"""A hundred reviewers decide on one sample at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from tests.journeys.reviewing import Reviewer, session_of
from tests.quarantine.factories import NAME, a_record, scanned, the_sample
from tests.serving import serving

from sickbay.database.schema import open_database
from sickbay.quarantine.tables import Decision, Status

REVIEWERS = 100


def test_one_of_a_hundred_wins_and_the_rest_are_shown_what_is(state: Path) -> None:
    with closing(open_database(state / "sickbay.db")) as database:
        scanned(database, [a_record("a.jpg", "image.truncated")])
        sample = the_sample(database, "a.jpg")
    names = [f"reviewer-{number}" for number in range(REVIEWERS)]
    secrets = {name: session_of(state, name) for name in names}
    start = threading.Barrier(REVIEWERS)

    with serving(state) as server, ThreadPoolExecutor(REVIEWERS) as threads:

        def decide(name: str) -> tuple[str, int, object]:
            reviewer = Reviewer(server.port, secrets[name])
            action = "approve" if int(name.rpartition("-")[2]) % 2 else "exclude"
            start.wait()
            return name, *reviewer.decide(NAME, sample.id, sample.version, action)

        answers = list(threads.map(decide, names))

    statuses = sorted(status for _, status, _ in answers)
    assert statuses == [200] + [409] * (REVIEWERS - 1)
    winner = next(name for name, status, _ in answers if status == 200)
    with closing(open_database(state / "sickbay.db")) as database:
        after = the_sample(database, "a.jpg")
        with database.reading() as session:
            made = session.query(Decision).filter(Decision.reviewer != "scan 1").all()
    assert [one.reviewer for one in made] == [winner]
    assert after.version == sample.version + 1
    assert after.status in {Status.APPROVED, Status.EXCLUDED}
    losers = [str(answer) for _, status, answer in answers if status == 409]
    assert all(winner in answer for answer in losers), "each is told who was first"
