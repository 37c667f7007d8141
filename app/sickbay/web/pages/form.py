"""Fields of the decision forms, each read as what it must be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sickbay.contract.errors import BadInput
from sickbay.quarantine.decisions.decide import Pick
from sickbay.quarantine.tables import Action
from sickbay.web.parameters import INT64_MOST

_AGAIN = "Load the page again, then decide."
_DIGITS_MOST = len(str(INT64_MOST))


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of one form; a name may stand several times."""

    fields: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str:
        """Return a field's only value, or an empty text where it was not sent.

        Raises:
            BadInput: it was sent more than once.
        """
        values = self.fields.get(name, ())
        if len(values) > 1:
            raise BadInput(f"The form gives its field {name} more than once. {_AGAIN}")
        return values[0].strip() if values else ""

    def number(self, name: str) -> int:
        """Return a field's value as a whole number from 0.

        Raises:
            BadInput: it is missing or no such number.
        """
        return _number(self.one(name), name)

    def action(self) -> Action:
        """Return what is to be done.

        Raises:
            BadInput: the form names no action, or none there is.
        """
        try:
            return Action(self.one("action"))
        except ValueError:
            raise BadInput(f"The form names no action there is. {_AGAIN}") from None

    def picks(self) -> list[Pick]:
        """Return the ticked samples, each as the version the reviewer saw (``id:version``).

        Raises:
            BadInput: one cannot be read.
        """
        pairs = [value.partition(":") for value in self.fields.get("pick", ())]
        return [Pick(_number(key, "pick"), _number(version, "pick")) for key, _, version in pairs]


def _number(text: str, name: str) -> int:
    digits = text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MOST
    if not digits or int(text) > INT64_MOST:
        raise BadInput(f"The form's field {name} is not a number. {_AGAIN}")
    return int(text)
