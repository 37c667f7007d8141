"""Scans that arrive over HTTP: begin, batches, finish.

A token chooses no folder for the server to read: a data set's root is set by the local command
line only. Thumbnails that arrive are pictures from elsewhere, so they are encoded anew in a
guarded child before anybody's browser sees them.
"""

import hashlib
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path

from sickbay.contract import batch as batches
from sickbay.contract.errors import BadInput
from sickbay.contract.fields import Fields
from sickbay.contract.finding import Record, ScanRecord, SummaryRecord
from sickbay.contract.read_record import from_line
from sickbay.quarantine import intake
from sickbay.quarantine.intake import Ticket
from sickbay.scanner import webp
from sickbay.scanner.formats import sniff
from sickbay.web.body_limit import up_to
from sickbay.web.identity import ScanToken
from sickbay.web.parameters import INT64_MOST
from sickbay.web.site import Here, Site
from sickbay.web.strict_body import Body, JsonObject

router = APIRouter(prefix="/api/v1/scans")

THUMBNAIL_SIDE = 256
Key = Annotated[str, Path(pattern="^[0-9a-f]{1,32}$")]
Number = Annotated[int, Path(ge=0, le=INT64_MOST)]
R = TypeVar("R", bound=Record)


@router.post("", status_code=HTTPStatus.CREATED, dependencies=[up_to(batches.MAX_BATCH)])
def begin(site: Here, who: ScanToken, body: Body) -> dict[str, Any]:
    """Take a scan's header record; answer with the scan's key, and what need not be sent."""
    header = _record(body, ScanRecord)
    ticket = site.database.writing(lambda session: intake.begin(session, header, by=who.name))
    return {**_said(ticket), "known": list(ticket.known)}


@router.get("/{key}")
def progress(site: Here, _who: ScanToken, key: Key) -> dict[str, Any]:
    """Say which batch is expected next."""
    with site.database.reading() as session:
        return _said(intake.progress(session, key))


@router.put("/{key}/batches/{number}", dependencies=[up_to(batches.MAX_BATCH)])
def receive(site: Here, _who: ScanToken, key: Key, number: Number, body: Body) -> dict[str, int]:
    """Take one batch; the same batch again is free."""
    unpacked = batches.unpack(body)
    none_yet = {of: dict[str, str]() for of in unpacked.thumbnails}
    checked = intake.check(unpacked.lines, none_yet, hashlib.sha256(body).hexdigest())
    stored = {of: _stored(site, data) for of, data in unpacked.thumbnails.items()}
    extras = {of: {"thumbnail": sha256} for of, sha256 in stored.items() if sha256}
    whole = replace(checked, extras=extras)
    expected = site.database.writing(lambda session: intake.receive(session, key, number, whole))
    return {"next_batch": expected}


@router.put("/{key}/repeats/{number}")
def repeat(
    site: Here, _who: ScanToken, key: Key, number: Number, body: JsonObject
) -> dict[str, int]:
    """Take a batch as sent that says what a part of the scan in force said; again is free."""
    fields = Fields(body, "A repeat")
    content = fields.text("content", 64)
    fields.end()
    expected = site.database.writing(lambda session: intake.repeat(session, key, number, content))
    return {"next_batch": expected}


@router.post("/{key}/finish", dependencies=[up_to(batches.MAX_BATCH)])
def finish(site: Here, _who: ScanToken, key: Key, body: Body) -> dict[str, Any]:
    """Take the summary record and put the scan in force."""
    summary = _record(body, SummaryRecord)
    return dict(site.database.writing(lambda session: intake.finish(session, key, summary)))


@router.delete("/{key}", status_code=HTTPStatus.NO_CONTENT)
def abandon(site: Here, _who: ScanToken, key: Key) -> None:
    """Forget a scan that was not finished."""
    site.database.writing(lambda session: intake.abandon(session, key))


def _record(body: bytes, kind: type[R]) -> R:
    record = from_line(body)
    if not isinstance(record, kind):
        raise BadInput("That record does not belong here: a header begins, a summary ends.")
    return record


def _said(ticket: Ticket) -> dict[str, Any]:
    return {
        "key": ticket.key,
        "number": ticket.number,
        "next_batch": ticket.next_batch,
        "state": ticket.state,
    }


def _stored(site: Site, thumbnail: bytes) -> str:
    """Store a thumbnail encoded anew; return its SHA-256, empty where it is none.

    A few bytes can state millions of pixels, and a batch holds thousands of thumbnails: what is
    larger than a thumbnail reaches no decoder.
    """
    stated = webp.size(thumbnail) if sniff(thumbnail) == "WEBP" else None
    if stated is None or max(stated) > THUMBNAIL_SIDE:
        return ""
    made = site.guards.preview(thumbnail, ".webp", THUMBNAIL_SIDE)
    return "" if made is None else site.blobs.put(made)
