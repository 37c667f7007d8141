"""Server time of the queue's page, read and rendered, on a hundred thousand held samples.

python -m tests.benchmarks.test_queue_over_http [SAMPLES]
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.benchmarks.test_queue_page import (
    PAGE_BUDGET_MS,
    SAMPLES,
    Taken,
    cursor_at,
    filled,
    timed,
)
from tests.quarantine.factories import NAME, the_data_set

from sickbay.accounts import links, people
from sickbay.blobs import Blobs
from sickbay.database import Database
from sickbay.quarantine.queue.filters import Filter
from sickbay.scanner.guard import Guards
from sickbay.settings import Settings
from sickbay.web.app import create_app
from sickbay.web.site import Site

_ROUNDS = 15
_PAGES = {"first page": 0.0, "half-way down": 0.5}


def served(database: Database, state: Path, samples: int) -> Iterator[tuple[str, Taken]]:
    """Yield the median time of each page's whole answer, as the server's own process spends it."""
    settings = Settings(state=state)
    site = Site(settings, database, Blobs(settings.blobs), Guards(1))
    client = TestClient(
        create_app(site),
        base_url=f"http://127.0.0.1:{settings.port}",
        headers={"Sec-Fetch-Site": "same-origin", "Accept": "text/html"},
    )
    secret = database.writing(
        lambda session: links.issue(session, people.owner(session, "a reviewer"))
    )
    client.post("/login", data={"link": secret})
    for name, depth in _PAGES.items():
        after = cursor_at(database, the_data_set(database).id, Filter(), int(samples * depth))
        address = f"/datasets/{NAME}/review{f'?after={after}' if after else ''}"
        assert client.get(address).text.count('class="tile"') == 60
        taken = [timed(lambda: client.get(address)) for _ in range(_ROUNDS)]  # noqa: B023 (used at once)
        yield (
            name,
            Taken(
                statistics.median(one.wall for one in taken),
                statistics.median(one.cpu for one in taken),
            ),
        )


@pytest.mark.soak
def test_the_first_page_and_one_half_way_down_are_served_in_time(tmp_path: Path) -> None:
    database, _ = filled(tmp_path, SAMPLES)
    try:
        measured = dict(served(database, tmp_path, SAMPLES))
    finally:
        database.close()
    assert [name for name, taken in measured.items() if taken.cpu > PAGE_BUDGET_MS] == []


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    with tempfile.TemporaryDirectory() as folder:
        database, _ = filled(Path(folder), samples)
        for name, taken in served(database, Path(folder), samples):
            print(f"{taken}  {name}")  # noqa: T201 (its output)
        database.close()


if __name__ == "__main__":
    main()
