"""The policy of a data set, for the scanner that is to follow it."""

from typing import Any

from fastapi import APIRouter

from sickbay.quarantine import data_sets, policies
from sickbay.web.identity import PolicyReader
from sickbay.web.site import Here

router = APIRouter()


@router.get("/api/v1/datasets/{name}/policy")
def policy(site: Here, _who: PolicyReader, name: str) -> dict[str, Any]:
    """Return what of the policy in force is not as by default, and its version."""
    with site.database.reading() as session:
        stored = policies.read(session, data_sets.find(session, name).id)
    return {"policy": stored.differences, "version": stored.version}
