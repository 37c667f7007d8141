"""The policy of a data set, as a scanner elsewhere reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.client.test_scan_upload import a_token
from tests.quarantine.factories import NAME, a_record, scanned, the_data_set
from tests.serving import serving

from sickbay.accounts.tables import Scope
from sickbay.client.http import Server
from sickbay.client.scan_upload import ServerSink
from sickbay.contract.policy import Policy
from sickbay.database import Database
from sickbay.database.schema import open_database
from sickbay.quarantine import policies
from sickbay.web.site import Site

WANTED = Policy.from_json({"max_tokens": 512, "severities": {"image.dark": "block"}})


def give(database: Database) -> None:
    scanned(database, [a_record("a.jpg")])
    data_set_id = the_data_set(database).id
    database.writing(
        lambda session: policies.change(session, data_set_id, WANTED, expected=0, by="anna")
    )


def test_a_scan_token_reads_what_differs_from_the_defaults(
    site: Site, program: Callable[[Scope], TestClient]
) -> None:
    give(site.database)
    answer = program(Scope.SCAN).get(f"/api/v1/datasets/{NAME}/policy")
    assert answer.status_code == 200
    assert answer.json() == {"policy": WANTED.differences(), "version": 1}


@pytest.mark.parametrize("name", ["unknown", "..", "a%2Fb", "%00"])
def test_of_what_is_no_data_set_there_is_none(
    program: Callable[[Scope], TestClient], name: str
) -> None:
    assert program(Scope.SCAN).get(f"/api/v1/datasets/{name}/policy").status_code in {400, 404}


def test_a_scanner_elsewhere_follows_the_data_sets_own_policy(state: Path) -> None:
    token = a_token(state, Scope.SCAN)
    database = open_database(state / "sickbay.db")
    give(database)
    database.close()
    with serving(state) as server:
        sink = ServerSink(Server(server.url, token))
        assert sink.stored_policy(NAME) == WANTED
        assert sink.stored_policy("new") == Policy()
