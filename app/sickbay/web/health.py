"""Whether the server is up and its database can be read; says nothing else."""

from fastapi import APIRouter

from sickbay.accounts import people
from sickbay.web.identity import public
from sickbay.web.site import Here

router = APIRouter()


@router.get("/healthz")
@public
def healthz(site: Here) -> dict[str, str]:
    """Answer after one read of the database."""
    with site.database.reading() as session:
        people.number(session)
    return {"status": "ok"}
