"""Files of samples, found by the sample's id and in no other way.

A browser gets pictures that were encoded anew in a guarded child; an original leaves only as an
attachment that no browser runs or shows. Pictures are named by the hash of what they show, so
a browser that has one asks in vain only once.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from sickbay.contract.errors import Conflict, NotFound, Refused
from sickbay.contract.inside import open_inside
from sickbay.contract.paths import SamplePath
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Replacement, Sample
from sickbay.scanner.limits import Limits
from sickbay.web.identity import Viewer
from sickbay.web.parameters import DataSetName, SampleId
from sickbay.web.site import Here, Site

router = APIRouter(prefix="/datasets/{name}/samples/{sample_id}")

THUMBNAIL_SIDE, PREVIEW_SIDE = 256, 1600
"""Longest side in pixels of a tile's picture and of the single view's."""
DECODER_WAIT = 10.0
"""Seconds a request waits for a free decoder."""
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
_MOST = Limits().file_bytes
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is asked for: a sample's file, or the one that replaces it."""

    sample_id: int
    path: SamplePath
    root: str | None
    sha256: str | None
    thumbnail: str | None
    replaces: bool = False


@router.get("/thumbnail")
def thumbnail(
    request: Request, site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId
) -> Response:
    """Send the tile's picture."""
    return _thumbnail(request, site, _sample(site, name, sample_id))


@router.get("/preview")
def preview(
    request: Request, site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId
) -> Response:
    """Send the single view's picture; where the file is not at hand, the tile's."""
    return _preview(request, site, _sample(site, name, sample_id))


@router.get("/original")
def original(site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId) -> Response:
    """Send the file as it is, to be saved."""
    subject = _sample(site, name, sample_id)
    return _attachment(subject, _opened(site, subject))


@router.get("/replacement/thumbnail")
def replacement_thumbnail(
    request: Request, site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId
) -> Response:
    """Send the tile's picture of the file that replaces this sample's."""
    return _thumbnail(request, site, _replacement(site, name, sample_id))


@router.get("/replacement/preview")
def replacement_preview(
    request: Request, site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId
) -> Response:
    """Send the single view's picture of the file that replaces this sample's."""
    return _preview(request, site, _replacement(site, name, sample_id))


@router.get("/replacement/original")
def replacement_original(
    site: Here, _who: Viewer, name: DataSetName, sample_id: SampleId
) -> Response:
    """Send the file that replaces this sample's, to be saved."""
    subject = _replacement(site, name, sample_id)
    return _attachment(subject, _opened(site, subject))


def _sample(site: Site, name: str, sample_id: int) -> _Subject:
    with site.database.reading() as session:
        data_set = data_sets.find(session, name)
        sample = session.get(Sample, sample_id)
        if sample is None or sample.gone or sample.data_set_id != data_set.id:
            raise NotFound("There is no such sample in this data set.")
        return _Subject(
            sample_id, SamplePath(sample.raw_path), data_set.root, sample.sha256, sample.thumbnail
        )


def _replacement(site: Site, name: str, sample_id: int) -> _Subject:
    with site.database.reading() as session:
        data_set = data_sets.find(session, name)
        sample = session.get(Sample, sample_id)
        if sample is None or sample.data_set_id != data_set.id or sample.replacement is None:
            raise NotFound("This sample has no replacement.")
        stored = session.get(Replacement, sample.replacement)
        shown = stored.thumbnail if stored is not None else None
        path = SamplePath(sample.raw_path)
        return _Subject(sample_id, path, None, sample.replacement, shown, replaces=True)


def _thumbnail(request: Request, site: Site, subject: _Subject) -> Response:
    if subject.thumbnail is not None:
        tag = subject.thumbnail
        return _same(request, tag) or _picture(site.blobs.get(tag), tag)
    return _encoded(request, site, subject, THUMBNAIL_SIDE)


def _preview(request: Request, site: Site, subject: _Subject) -> Response:
    try:
        return _encoded(request, site, subject, PREVIEW_SIDE)
    except NotFound:
        if subject.thumbnail is None:
            raise
        return _thumbnail(request, site, subject)


def _encoded(request: Request, site: Site, subject: _Subject, side: int) -> Response:
    """Encode a file anew, unless the browser has that picture already."""
    tag = f"{subject.sha256}-{side}"
    same = _same(request, tag) if subject.sha256 else None
    if same is not None:
        return same
    with site.guards.one(DECODER_WAIT) as guard:
        made = guard.preview(_read(site, subject), subject.path.suffix, side)
    if made is None:
        raise NotFound("No decoder gives a picture of this file.")
    return _picture(made, tag)


def _read(site: Site, subject: _Subject) -> bytes:
    with _opened(site, subject) as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise Refused("The file is too large to be shown; download it.")
    if subject.sha256 is not None and hashlib.sha256(data).hexdigest() != subject.sha256:
        raise Conflict("The file changed since the scan; scan again to see what it is now.")
    return data


def _opened(site: Site, subject: _Subject) -> BinaryIO:
    if subject.replaces and subject.sha256 is not None:
        return site.blobs.path(subject.sha256).open("rb")
    if subject.root is None:
        raise NotFound("The files of this data set are on another machine.")
    return os.fdopen(open_inside(subject.root, subject.path.raw), "rb")


def _same(request: Request, tag: str) -> Response | None:
    """Return "not modified" where the browser has what the tag names."""
    known = request.headers.get("if-none-match", "").split(",", 8)
    if f'"{tag}"' not in {one.strip().removeprefix("W/") for one in known}:
        return None
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=_caching(tag))


def _picture(data: bytes, tag: str) -> Response:
    return Response(data, media_type="image/webp", headers=_caching(tag))


def _caching(tag: str) -> dict[str, str]:
    """Let the browser, and nobody between, keep a picture but ask each time."""
    return {"ETag": f'"{tag}"', "Cache-Control": "private, no-cache"}


def _attachment(subject: _Subject, file: BinaryIO) -> Response:
    name = subject.path.text.rpartition("/")[2]
    said = (
        f"attachment; filename=\"sample-{subject.sample_id}\"; filename*=UTF-8''{quote(name, '')}"
    )
    return StreamingResponse(
        _chunks(file),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": said,
            "Content-Length": str(os.fstat(file.fileno()).st_size),
            "Content-Security-Policy": SANDBOX,
        },
    )


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
