"""What repeating a bad step showed, in words: for a line, and for a notice."""

from sickbay.contract.blame import Outcome
from sickbay.web.language import _

SHORT = {
    Outcome.REPRODUCED_ALONE: _("it is the data"),
    Outcome.ONLY_IN_THIS_STATE: _("in that state of the model only"),
    Outcome.NOT_REPRODUCED: _("not the data"),
    Outcome.DIFFERS_ON_REPEAT: _("differs on repeat"),
}
AT_LENGTH = {
    Outcome.REPRODUCED_ALONE: _(
        "These samples do it by themselves, whatever the model: it is the data."
    ),
    Outcome.ONLY_IN_THIS_STATE: _(
        "They do it with the model as it was then, and not with another: look at them, and at the "
        "learning rate."
    ),
    Outcome.NOT_REPRODUCED: _(
        "The same batch in the same state was fine: the cause is elsewhere, not in these samples."
    ),
    Outcome.DIFFERS_ON_REPEAT: _(
        "The same batch gave other results when it was repeated: look for nondeterminism, or at "
        "the hardware."
    ),
}
AGAINST_THE_DATA = frozenset({Outcome.REPRODUCED_ALONE, Outcome.ONLY_IN_THIS_STATE})
"""Those that blame samples."""
