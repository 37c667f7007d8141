"""A reviewer's browser without scripts, and a look into the database beside it."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlencode

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select
from tests import scanned

from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.quarantine.queue.sample import SampleView, view
from sickbay.quarantine.tables import Sample

PAGE = {"Accept": "text/html"}
SCRIPT = {"Accept": "application/json"}


@dataclass(frozen=True, slots=True)
class Desk:
    """A reviewer's browser, and a look into the database beside it."""

    client: TestClient
    database: Database
    name: str = scanned.NAME

    def get(self, at: str = "", **query: Any) -> Response:
        """Load a page of the data set."""
        return self.client.get(f"{self.base}{at}{_query(query)}", headers=PAGE)

    def post(self, at: str, fields: dict[str, Any], **headers: str) -> Response:
        """Send a form, as a browser without scripts does."""
        return self.client.post(f"{self.base}{at}", data=fields, headers=headers or PAGE)

    @property
    def base(self) -> str:
        return f"/datasets/{self.name}"

    def sample(self, path: str) -> SampleView:
        """Return a sample by its path, as it stands now."""
        with self.database.reading() as session:
            found = data_sets.find(session, self.name)
            sample_id = session.scalars(
                select(Sample.id).where(Sample.data_set_id == found.id, Sample.path == path)
            ).one()
            return view(session, found.id, sample_id)

    def decide(self, path: str, action: str, **fields: Any) -> Response:
        """Decide on one sample with its form."""
        sample = self.sample(path)
        values = {"version": sample.version, "action": action, "query": "", **fields}
        return self.post(f"/samples/{sample.id}/decision", values)


def text_of(answer: Response) -> str:
    """Return what a page says, without its markup."""
    without = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(without)).strip()


def _query(query: dict[str, Any]) -> str:
    return f"?{urlencode(query, doseq=True)}" if query else ""
