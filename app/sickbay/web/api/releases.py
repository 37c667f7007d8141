"""Releases over HTTP: made, listed, and handed out at addresses that never change meaning.

A file of a release is named by the release's id, so it is cached for ever; ``latest`` and the
beginnings of ids only redirect. The digest travels with the file (``ETag``, ``Repr-Digest``), so
that a download that was cut off goes on, and is known to be right in the end. Nothing here is
ever compressed: that would be another representation, with another digest.
"""

import base64
import re
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from sickbay.contract.errors import BadInput, NotFound, StorageFailed
from sickbay.contract.manifest import METADATA_SUMS, SUMS
from sickbay.releases import find
from sickbay.releases.find import ReleaseView
from sickbay.releases.make import make
from sickbay.web.identity import ReleaseMaker, ReleaseReader
from sickbay.web.parameters import DataSetName, Sha256
from sickbay.web.site import Here, Site
from sickbay.web.strict_body import JsonObject

router = APIRouter()

FOREVER = "private, max-age=31536000, immutable"
_API = "/api/v1/datasets/{name}/releases"
_SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
_PART = r"(?:[0-9]{1,19}-(?:[0-9]{1,19})?|-[0-9]{1,19})"
_RANGES = re.compile(rf"bytes=[ \t]*{_PART}(?:[ \t]*,[ \t]*{_PART})*[ \t]*", re.IGNORECASE)
_LONGEST = 1000
"""Characters of a Range that is read; honest clients ask for a part or two."""
_FROM_TO = re.compile(r"([0-9]+)-([0-9]+)")
_MEDIA_TYPES = {".jsonl": "application/jsonl", ".json": "application/json"}

Wanted = Annotated[str, InPath(max_length=80)]
FileName = Annotated[str, InPath(pattern=r"^[A-Za-z0-9.-]{1,40}$")]


@router.get(_API)
def listed(site: Here, _who: ReleaseReader, name: DataSetName) -> dict[str, Any]:
    """List a data set's releases, the one made last first."""
    with site.database.reading() as session:
        found = find.releases(session, name)
    return {"releases": [_said(name, release) for release in found]}


@router.post(_API)
def made(site: Here, who: ReleaseMaker, name: DataSetName, body: JsonObject) -> Response:
    """Make a release; 201 where it is new, 200 where it was there."""
    release = make(
        site.database,
        releases=site.settings.releases,
        blobs=site.blobs,
        data_set=name,
        by=who.name,
        require_decided=_flag(body),
    )
    url = _url(name, release.digest)
    content = {
        "id": release.digest,
        "url": url,
        "counts": release.counts.as_dict(),
        "already_there": release.already_there,
        "checked_on_disk": release.checked_on_disk,
        "warnings": list(release.warnings),
    }
    status = HTTPStatus.OK if release.already_there else HTTPStatus.CREATED
    return JSONResponse(content, status_code=status, headers={"Location": url})


@router.get(_API + "/{wanted}")
def described(site: Here, _who: ReleaseReader, name: DataSetName, wanted: Wanted) -> Response:
    """Describe a release and its files."""
    release = _find(site, name, wanted)
    if wanted != release.digest:
        return _moved(_url(name, release.digest))
    files = [
        {
            "name": file.name,
            "sha256": file.sha256,
            "size": file.size,
            "rows": file.rows,
            "url": f"{_url(name, release.digest)}/{file.name}",
        }
        for file in release.files
    ]
    return JSONResponse(_said(name, release) | {"files": files})


@router.api_route(_API + "/{wanted}/{file}", methods=["GET", "HEAD"])
def downloaded(
    request: Request,
    site: Here,
    _who: ReleaseReader,
    name: DataSetName,
    wanted: Wanted,
    file: FileName,
) -> Response:
    """Send one file of a release."""
    release = _find(site, name, wanted)
    entry = release.file(file)
    if wanted != release.digest:
        return _moved(f"{_url(name, release.digest)}/{entry.name}")
    path = site.settings.releases / release.digest / entry.name
    return _immutable(request, path, entry.sha256, _media_type(entry.name))


@router.api_route("/blobs/sha256/{sha256}", methods=["GET", "HEAD"])
def replacement(request: Request, site: Here, _who: ReleaseReader, sha256: Sha256) -> Response:
    """Send a replacement; no other stored file is handed out by its hash."""
    with site.database.reading() as session:
        known = find.is_replacement(session, sha256)
    if not known:
        raise NotFound("There is no replacement with that SHA-256.")
    answer = _immutable(request, site.blobs.path(sha256), sha256, "application/octet-stream")
    answer.headers["Content-Disposition"] = f'attachment; filename="{sha256}"'
    answer.headers["Content-Security-Policy"] = _SANDBOX
    return answer


def _find(site: Site, name: str, wanted: str) -> ReleaseView:
    with site.database.reading() as session:
        return find.find(session, name, wanted)


def _flag(body: dict[str, Any]) -> bool:
    flag = body.get("require_decided", False)
    if not isinstance(flag, bool) or body.keys() - {"require_decided"}:
        raise BadInput("Give {} or require_decided, which is true or false.")
    return flag


def _said(name: str, release: ReleaseView) -> dict[str, Any]:
    return {
        "id": release.digest,
        "url": _url(name, release.digest),
        "parent": release.parent,
        "counts": dict(release.counts),
        "created_by": release.created_by,
        "created_at": release.created_at.isoformat(),
    }


def _url(name: str, digest: str) -> str:
    return f"/api/v1/datasets/{quote(name, safe='')}/releases/{digest}"


def _moved(url: str) -> Response:
    headers = {"Cache-Control": "no-cache"}
    return RedirectResponse(url, status_code=HTTPStatus.TEMPORARY_REDIRECT, headers=headers)


def _media_type(name: str) -> str:
    if name in (SUMS, METADATA_SUMS):
        return "text/plain; charset=utf-8"
    return _MEDIA_TYPES[Path(name).suffix]


def _immutable(request: Request, path: Path, sha256: str, media_type: str) -> Response:
    """Send a file that is named by its content: whole, in part, or not again."""
    headers = {
        "Cache-Control": FOREVER,
        "ETag": f'"{sha256}"',
        "Repr-Digest": f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:",
    }
    if _has_it(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    try:
        found = path.stat()
    except OSError:
        raise StorageFailed(
            "The server lost a file of this release. Make the release again, or restore a backup."
        ) from None
    return _Download(path, headers=headers, media_type=media_type, stat_result=found)


class _Download(FileResponse):
    """A file, in part where the part asked for makes sense, else whole.

    RFC 9110 14.2 lets a server ignore a Range that is not valid; a client that sent it can use
    the whole file, and could do nothing with a 400.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, as if nothing but ranges that are valid had been asked for."""
        headers = [one for one in scope["headers"] if one[0] != b"range" or _is_range(one[1])]
        await super().__call__({**scope, "headers": headers}, receive, send)


def _is_range(value: bytes) -> bool:
    text = value.decode("latin-1").strip()
    backward = any(int(last) < int(first) for first, last in _FROM_TO.findall(text[:_LONGEST]))
    return len(text) <= _LONGEST and _RANGES.fullmatch(text) is not None and not backward


def _has_it(if_none_match: str, etag: str) -> bool:
    """Compare as RFC 9110 says for If-None-Match: weakly, any of a list, or ``*``."""
    known = {one.strip().removeprefix("W/") for one in if_none_match.split(",")}
    return bool(known & {etag, "*"})
