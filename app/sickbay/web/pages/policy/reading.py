"""Reading the policy's form: text of fields in, a policy or one sentence out."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sickbay.contract.defects import DEFECTS
from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.web.pages.form import Form
from sickbay.web.pages.policy import words

USUAL = "usual"
"""Chosen for a code that the catalogue judges."""
_LISTS = {"classes": re.compile(r"[\r\n]+"), "expect_shape": re.compile(r"[,\s]+")}


def read(form: Form, present: Policy) -> Policy:
    """Return the policy that a form describes; what it has no field for stays as it is.

    Raises:
        BadInput: a field cannot be read; the sentence gives it by its label.
    """
    wanted: dict[str, Any] = {"tokenizer": present.tokenizer}
    for _title, group in words.GROUPS:
        for name, said in group.items():
            if (typed := form.one(name)) != "":
                wanted[name] = _value(name, typed, said.label)
    wanted["severities"] = {
        code: chosen
        for code in DEFECTS
        if (chosen := form.one(f"severity-{code}")) not in {"", USUAL}
    }
    return Policy.from_json(wanted)


def written(policy: Policy) -> dict[str, str]:
    """Return the fields of the form that describes a policy; empty where it says nothing."""
    value = policy.to_json()
    return {name: _written(name, value[name]) for _title, group in words.GROUPS for name in group}


def typed(fields: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what was typed, so that a refused form loses nothing."""
    return {
        name: (fields.get(name) or ("",))[0] for _title, group in words.GROUPS for name in group
    }


def _written(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in _LISTS:
        parts = ["*" if one is None else str(one) for one in value]
        return ("\n" if name == "classes" else ", ").join(parts)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _value(name: str, text: str, label: str) -> Any:
    if name in _LISTS:
        parts = [part.strip() for part in _LISTS[name].split(text) if part.strip()]
        return parts if name == "classes" else [_length(part, label) for part in parts]
    return _number(text, label)


def _length(text: str, label: str) -> Any:
    return text if text == "*" else _number(text, label)


def _number(text: str, label: str) -> int | float:
    if re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if re.fullmatch(r"-?[0-9]{0,18}\.[0-9]{1,18}", text):
        return float(text)
    raise BadInput(f"{label}: {text[:40]!r} is not a number such as 3 or 0.5.")
