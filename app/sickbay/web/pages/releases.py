"""Releases: the list, the button that asks first, and one release as a report."""

import shlex
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from sickbay.contract.errors import Refused
from sickbay.contract.manifest import FILES
from sickbay.quarantine import data_sets
from sickbay.quarantine.queue.filters import Filter
from sickbay.quarantine.tables import Status
from sickbay.releases import find
from sickbay.releases.counts import Counts, count
from sickbay.releases.find import FileView, ReleaseView
from sickbay.releases.make import make
from sickbay.releases.warnings import blocking_files
from sickbay.web.identity import Reviewer, Viewer, Who
from sickbay.web.pages import balance
from sickbay.web.pages.address import Address
from sickbay.web.pages.balance import Balance, ClassRow
from sickbay.web.pages.form import Form
from sickbay.web.pages.shell import Entered, Shell, enter, shell
from sickbay.web.parameters import Classes, DataSetName
from sickbay.web.render import page
from sickbay.web.site import Here, Site
from sickbay.web.strict_body import FormFields

router = APIRouter()
_WARNED_MOST = 3
"""Classes that are warned about in words; the table marks the others."""


@dataclass(frozen=True, slots=True)
class ReleasesPage:
    """``release/releases.html``."""

    shell: Shell
    counts: Counts
    releases: tuple[ReleaseView, ...]
    asking: bool
    problem: str
    blocking_files: int
    """Blocking findings of files that are no samples."""


@dataclass(frozen=True, slots=True)
class Commands:
    """What to type where the training job is."""

    pull: str
    verify: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A class that loses much, with the samples that it loses."""

    label: str
    change: str
    href: str


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """``release/release.html``."""

    shell: Shell
    release: ReleaseView
    files: tuple[FileView, ...]
    balance: Balance
    warned: tuple[Warned, ...]
    warnings: int
    warn_percent: str
    commands: Commands


@router.get("/datasets/{name}/releases")
def list_releases(request: Request, site: Here, me: Viewer, name: DataSetName) -> Response:
    """List the releases, and say what one made now would hold."""
    return _list(request, site, me, name)


@router.post("/datasets/{name}/releases")
def make_release(
    request: Request, site: Here, me: Reviewer, name: DataSetName, fields: FormFields
) -> Response:
    """Make a release; while samples are undecided, ask first, with their number."""
    with site.database.reading() as session:
        counts = count(session, data_sets.find(session, name).id)
    if counts.pending and Form(fields).one("pending") != str(counts.pending):
        return _list(request, site, me, name, asking=True)
    try:
        made = make(
            site.database,
            releases=site.settings.releases,
            blobs=site.blobs,
            data_set=name,
            by=me.name,
        )
    except Refused as error:
        return _list(request, site, me, name, problem=error.sentence)
    return RedirectResponse(f"/datasets/{name}/releases/{made.digest}", HTTPStatus.SEE_OTHER)


@router.get("/datasets/{name}/releases/{wanted}")
def show_release(
    request: Request,
    site: Here,
    me: Viewer,
    name: DataSetName,
    wanted: str,
    *,
    classes: Classes = None,
) -> Response:
    """Show one release; a short or moving name leads to its full id."""
    with site.database.reading() as session:
        release = find.find(session, name, wanted)
        if release.digest != wanted:
            address = f"/datasets/{name}/releases/{release.digest}"
            return RedirectResponse(address, HTTPStatus.TEMPORARY_REDIRECT)
        entered = enter(session, name)
        shown = _view(session, site, me, entered, release, whole=classes == "all")
    return page(request, "release/release.html", shown)


def _list(
    request: Request, site: Site, me: Who, name: str, problem: str = "", *, asking: bool = False
) -> Response:
    with site.database.reading() as session:
        entered = enter(session, name)
        shown = ReleasesPage(
            shell=shell(session, me, entered, "releases"),
            counts=count(session, entered.card.id),
            releases=tuple(find.releases(session, name)),
            asking=asking,
            problem=problem,
            blocking_files=blocking_files(session, entered.card.id),
        )
    status = HTTPStatus.CONFLICT if problem or asking else HTTPStatus.OK
    return page(request, "release/releases.html", shown, status)


def _view(
    session: Session, site: Site, me: Who, entered: Entered, release: ReleaseView, *, whole: bool
) -> ReleasePage:
    name = entered.card.name
    statistics = find.statistics(site.settings.releases, release.digest)
    rows = balance.of_statistics(statistics)
    return ReleasePage(
        shell=shell(session, me, entered, "releases"),
        release=release,
        files=tuple(sorted(release.files, key=lambda file: FILES.index(file.name))),
        balance=balance.table(rows, whole=whole),
        warned=tuple(_warned(name, row) for row in rows[:_WARNED_MOST] if row.warned),
        warnings=sum(row.warned for row in rows),
        warn_percent=f"{balance.WARN_PERCENT:g}",
        commands=_commands(name, release, entered.card.root),
    )


def _warned(name: str, row: ClassRow) -> Warned:
    out = Address(name, Filter(status=(Status.HELD, Status.EXCLUDED), label=row.label))
    return Warned(row.label, row.change, out.grid)


def _commands(name: str, release: ReleaseView, root: str | None) -> Commands:
    wanted = f"{name}@{release.short}"
    where = shlex.quote(root) if root else "FOLDER"
    return Commands(
        pull=f"sickbay pull {wanted} ./{name} --root {where}",
        verify=f"sickbay verify {wanted} ./{name}\ncd ./{name} && sha256sum -c SHA256SUMS",
    )
