"""A reviewer's script: decides over HTTP and keeps count of what was acknowledged."""

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sickbay.accounts import people, sessions
from sickbay.accounts.tables import Role
from sickbay.database.schema import open_database


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Somebody who is logged in at a server."""

    port: int
    session: str

    def post(self, path: str, form: Mapping[str, Any]) -> tuple[int, Any]:
        """Send a form as a script does; return status and JSON.

        Raises:
            OSError or http.client.HTTPException: the server died; nothing is known.
        """
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"sickbay_{self.port}={self.session}",
            "Sec-Fetch-Site": "same-origin",
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as server:
            server.request("POST", path, urlencode(form), headers)
            answer = server.getresponse()
            return answer.status, json.loads(answer.read())

    def decide(self, data_set: str, sample_id: int, version: int, action: str) -> tuple[int, Any]:
        """Decide on one sample, as the version that was seen."""
        path = f"/datasets/{data_set}/samples/{sample_id}/decision"
        return self.post(path, {"action": action, "version": version, "reason": "damaged"})


def session_of(state: Path, name: str) -> str:
    """Log somebody in without a server; return the session's secret."""
    database = open_database(state / "sickbay.db")
    with closing(database):
        return database.writing(
            lambda session: sessions.start(session, people.welcome(session, name, Role.REVIEWER))
        )
