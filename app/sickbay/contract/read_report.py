"""Reading changes and reports out of events, trusting nothing in them."""

from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.fields import Fields
from sickbay.contract.read_blame import LEAST_STEP
from sickbay.contract.report import MAX_STAGES, Change, Passed, Report, Stage

_MAX_NAME, _MAX_VALUE, _MAX_TEXT = 200, 1000, 10_000


def read_change(found: Fields) -> Change:
    """Read a change.

    Raises:
        BadInput: it does not say what was changed.
    """
    what = found.text("what", _MAX_NAME)
    if not what.strip():
        raise BadInput("what is empty.")
    return Change(
        what=what,
        before=found.text("before", _MAX_VALUE, ""),
        after=found.text("after", _MAX_VALUE, ""),
        why=found.text("why", _MAX_TEXT, ""),
        step=found.whole_or_nothing("step", LEAST_STEP),
    )


def read_report(found: Fields) -> Report:
    """Read a report with its stages.

    Raises:
        BadInput: it has no title, or a stage is none.
    """
    title = found.text("title", _MAX_NAME)
    if not title.strip():
        raise BadInput("title is empty.")
    return Report(
        title=title,
        outcome=found.choice("outcome", Passed),
        stages=tuple(map(_stage, found.list("stages", MAX_STAGES))),
        layer=found.text("layer", _MAX_NAME, ""),
        category=found.text("category", _MAX_NAME, ""),
        advice=found.text("advice", _MAX_TEXT, ""),
    )


def _stage(value: Any) -> Stage:
    found = Fields(value, "A stage")
    stage = Stage(
        name=found.text("name", _MAX_NAME),
        outcome=found.choice("outcome", Passed),
        message=found.text("message", _MAX_TEXT, ""),
        seconds=found.number_or_nothing("seconds"),
    )
    found.end()
    return stage
