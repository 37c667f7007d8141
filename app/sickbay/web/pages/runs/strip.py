"""The samples of one step: what the curve leads to, with the decision beside each."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from sickbay.contract.errors import NotFound
from sickbay.quarantine import data_sets
from sickbay.quarantine.tables import Status
from sickbay.runs.samples.find import StepSample, StepSamples, of_step
from sickbay.web.identity import Viewer
from sickbay.web.language import _
from sickbay.web.pages import words
from sickbay.web.pages.runs.drawing import number
from sickbay.web.pages.runs.place import Key
from sickbay.web.pages.runs.verdicts import AGAINST_THE_DATA, AT_LENGTH
from sickbay.web.pages.tiles import Look, look
from sickbay.web.parameters import INT64_MOST
from sickbay.web.render import page
from sickbay.web.site import Here

router = APIRouter()
_UNKNOWN = _("It is no sample of the data set.")
_NO_PICTURE = _("The file is on another machine.")
RANKS_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class StripTile:
    """A sample of the step; ``href`` is empty where the data set does not have it."""

    sample: StepSample
    look: Look
    loss: str
    href: str
    acts: tuple[words.ActView, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """``run/strip.html``. ``asked`` is the step that was asked for; ``step`` the nearest known."""

    run: str
    asked: int
    found: StepSamples | None
    tiles: tuple[StripTile, ...]
    verdict: str
    may_decide: bool
    data_set: str

    @property
    def near(self) -> bool:
        """Whether another step is shown than the one asked for."""
        return self.found is not None and self.found.step != self.asked

    @property
    def step(self) -> int:
        """The step that is shown."""
        return self.found.step if self.found else self.asked

    @property
    def severity(self) -> str:
        """How the verdict is marked: the data are to blame, or they are not."""
        blamed = self.found is not None and self.found.outcome in AGAINST_THE_DATA
        return "block" if blamed else "note"


@router.get("/runs/{run}/samples")
def show_strip(
    request: Request,
    site: Here,
    me: Viewer,
    *,
    run: Key,
    attempt: Annotated[int, Query(ge=1, le=INT64_MOST)],
    step: Annotated[int, Query(ge=-INT64_MOST, le=INT64_MOST)],
    rank: Annotated[int | None, Query(ge=0, le=RANKS_MOST)] = None,
) -> Response:
    """Return the samples of a step, as a part of the run's page."""
    with site.database.reading() as session:
        shown = strip(session, run, attempt=attempt, step=step, rank=rank, may_decide=me.may_decide)
    return page(request, "run/strip.html", shown)


def strip(
    session: Session, run: str, *, attempt: int, step: int, rank: int | None, may_decide: bool
) -> Strip:
    """Read the samples of a step; one that nobody recorded is an empty strip, not an error."""
    try:
        found = of_step(session, run, attempt, step, rank)
    except NotFound:
        return Strip(run, step, None, (), "", may_decide, "")
    at_hand = False
    if found.data_set is not None:
        card = data_sets.card(session, data_sets.find(session, found.data_set).id)
        at_hand = card.root is not None
    base = f"/datasets/{found.data_set}/samples"
    return Strip(
        run=run,
        asked=step,
        found=found,
        tiles=tuple(_tile(base, one, at_hand=at_hand) for one in found.samples),
        verdict=AT_LENGTH[found.outcome] if found.outcome else "",
        may_decide=may_decide,
        data_set=found.data_set or "",
    )


def _tile(base: str, one: StepSample, *, at_hand: bool) -> StripTile:
    known = one.sample_id is not None
    address = f"{base}/{one.sample_id}" if known else ""
    shown = look(
        address,
        kind="thumbnail",
        thumbnail=one.thumbnail,
        at_hand=at_hand and known,
        code=one.worst_code,
        phrase=_NO_PICTURE if known else _UNKNOWN,
    )
    loss = "" if one.loss is None else number(one.loss)
    return StripTile(one, shown, loss, address, _ACTS.get(one.status, ()) if one.status else ())


_ACTS: dict[Status, tuple[words.ActView, ...]] = {
    Status.CLEAN: (words.LEAVE_OUT, words.HOLD),
    Status.HELD: (words.LEAVE_OUT, words.KEEP),
    Status.APPROVED: (words.REOPEN,),
    Status.REPAIRED: (words.REOPEN,),
    Status.EXCLUDED: (words.REOPEN,),
}
"""What can be done in one click; everything else is on the sample's own page."""
