"""What every route may reach, as one frozen object."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from sickbay.blobs import Blobs
from sickbay.database import Database
from sickbay.scanner.guard import Guards
from sickbay.settings import Settings


@dataclass(frozen=True, slots=True)
class Site:
    """One running server: its settings, its database, its stored files, its decoders."""

    settings: Settings
    database: Database
    blobs: Blobs
    guards: Guards


async def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


Here = Annotated[Site, Depends(_site)]
"""The running server, as a route's parameter."""
