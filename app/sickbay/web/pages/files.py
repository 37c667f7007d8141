"""Findings of files that are no samples: annotation files, lists, what a scan skipped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from sickbay.contract.defects import defect
from sickbay.quarantine import file_findings
from sickbay.quarantine.file_findings import FileFindingPage
from sickbay.web.identity import Viewer
from sickbay.web.pages.shell import Shell, enter, shell
from sickbay.web.parameters import INT64_MOST, DataSetName
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()
_MOST_CODE = 64


@dataclass(frozen=True, slots=True)
class FilesPage:
    """``files/files.html``."""

    shell: Shell
    found: FileFindingPage
    code: str
    first_href: str
    next_href: str


@router.get("/datasets/{name}/files")
def show(
    request: Request,
    site: Here,
    me: Viewer,
    name: DataSetName,
    *,
    after: Annotated[int | None, Query(ge=1, le=INT64_MOST)] = None,
    code: Annotated[str, Query(max_length=_MOST_CODE)] = "",
) -> Response:
    """List the findings, file by file."""
    chosen = defect(code).code if code else None
    with site.database.reading() as session:
        entered = enter(session, name)
        found = file_findings.page(session, entered.card.id, after, code=chosen)
        shown = FilesPage(
            shell=shell(session, me, entered, "overview"),
            found=found,
            code=code,
            first_href=_href(name, {"code": code}) if after else "",
            next_href=_href(name, {"code": code, "after": found.next_after})
            if found.next_after
            else "",
        )
    return page(request, "files/files.html", shown)


def _href(name: str, query: Mapping[str, str | int | None]) -> str:
    given = {key: value for key, value in query.items() if value}
    return f"/datasets/{name}/files" + (f"?{urlencode(given)}" if given else "")
