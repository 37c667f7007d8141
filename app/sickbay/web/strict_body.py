"""Bodies as they are allowed in: read up to a limit, then parsed strictly.

These are dependencies, so they run after the identity is known; FastAPI's own body parameters
would be parsed before. How many bytes are read at all is set in ``body_limit``.
"""

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from sickbay.contract import strict_json
from sickbay.contract.errors import BadInput

MAX_FIELDS = 2000
"""Fields of one form: a page's selection of samples, each with id and version."""
MAX_UPLOAD_FIELDS = 20
MAX_FIELD = 16 << 10
"""Bytes of one text field beside an uploaded file."""


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """One file from a form's field ``file``; its name is text for show, never a path."""

    name: str
    data: bytes
    fields: dict[str, str]


async def _body(request: Request) -> bytes:
    return await request.body()


def _json_object(request: Request, body: "Body") -> dict[str, Any]:
    if media_type(request) != "application/json":
        raise BadInput("The body must be JSON, sent as application/json.")
    value = strict_json.loads(body)
    if not isinstance(value, dict):
        raise BadInput("The body must be a JSON object.")
    return value


def _form(request: Request, body: "Body") -> dict[str, list[str]]:
    if media_type(request) != "application/x-www-form-urlencoded":
        raise BadInput("The body must be a form, sent as application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise BadInput(f"The form is malformed or has over {MAX_FIELDS} fields.") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        if "\x00" in value:
            raise BadInput("The form holds a NUL character.")
        fields.setdefault(name, []).append(value)
    return fields


async def _upload(request: Request) -> UploadedFile:
    if media_type(request) != "multipart/form-data":
        raise BadInput("The body must be a form with a file, sent as multipart/form-data.")
    try:
        async with request.form(
            max_files=1, max_fields=MAX_UPLOAD_FIELDS, max_part_size=MAX_FIELD
        ) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadInput("The form holds no file; choose one, then send it again.")
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            return UploadedFile(file.filename or "", await file.read(), fields)
    except HTTPException:
        raise BadInput("The form cannot be read, or holds more than one file.") from None


def media_type(request: Request) -> str:
    """Return what a body is said to be, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


Body = Annotated[bytes, Depends(_body)]
"""The body's bytes, as many as the route allows."""
JsonObject = Annotated[dict[str, Any], Depends(_json_object)]
"""The body as a JSON object, parsed strictly."""
FormFields = Annotated[dict[str, list[str]], Depends(_form)]
"""The body as URL-encoded form fields, each a list of its values."""
Upload = Annotated[UploadedFile, Depends(_upload)]
"""The body as a form with one file."""
