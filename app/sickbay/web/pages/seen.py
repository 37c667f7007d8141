"""Where training stumbled over a sample: runs, steps and verdicts, with the way to the curve."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sickbay.contract.defects import DEFECTS
from sickbay.runs.samples.seen import Seen, seen
from sickbay.web.pages.runs.drawing import number
from sickbay.web.pages.runs.verdicts import SHORT


@dataclass(frozen=True, slots=True)
class SeenView:
    """One failure whose batch the sample was in; ``href`` leads to that point of the curve."""

    seen: Seen
    what: str
    loss: str
    verdict: str
    href: str


def seen_views(session: Session, sample_id: int) -> tuple[SeenView, ...]:
    """Return the failures whose batch a sample was in, newest first."""
    return tuple(_view(one) for one in seen(session, sample_id))


def _view(one: Seen) -> SeenView:
    entry = DEFECTS.get(f"training.{one.what}")
    step = "" if one.step is None else f"?step={one.step}&attempt={one.attempt}&rank={one.rank}"
    return SeenView(
        seen=one,
        what=one.what if entry is None else entry.code,
        loss="" if one.loss is None else number(one.loss),
        verdict=SHORT[one.outcome] if one.outcome else "",
        href=f"/runs/{one.run}{step}" + ("#samples" if step else f"#group-{one.group_id}"),
    )
