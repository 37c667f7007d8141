"""What a data set's owner wants found: severities of codes, classes, limits and thresholds.

A policy is one small value, the same in a TOML file, in a scan's header, in the database and in
the process that decodes. Where it says nothing, the catalogue and the defaults below hold.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sickbay.contract.defects import Severity, defect
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Finding
from sickbay.contract.policy_fields import (
    class_names,
    number,
    read,
    severities,
    sha256,
    shape,
    whole,
)

SILENT = "silent"
"""Instead of a severity: findings of the code are dropped."""
MOST_TEXT = 4 << 20
"""Characters of a policy file: some 100,000 class names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy; every field has the default that holds where nobody says otherwise.

    Thresholds are not exact borders between good and bad: each is the default of the check that
    reads it, whose documentation says where the number comes from.

    Attributes:
        severities: code to ``block``, ``warn``, ``note`` or ``silent``; only what differs from
            the catalogue need be there.
        num_classes: labels are 0 to one less than this.
        classes: the names of the classes, in order of their numbers.
        ignore_label: value of a mask that means "not labelled" and is allowed.
        max_tokens: of a text: tokens of ``tokenizer``, words where there is none.
        max_characters: of a text.
        tokenizer: SHA-256 of the tokenizer's file; where the file lies is no part of a policy.
        expect_shape: of an array; nothing stands for any length of that axis.
        box_tolerance: pixels by which a box may stand out of its picture.
        min_side: pixels; a picture with a shorter side is ``image.too-small``.
        near_duplicate_distance: of 64 bits, in which the hashes of near duplicates may differ.
        drift_threshold: distance between two splits, 0 to 1, above which they are ``set.drift``.
        dark_below: brightness 0 to 1; the brightest hundredth of a dark picture is below it.
        light_above: brightness 0 to 1; the darkest twentieth of a light picture is above it.
        blurry_below: score 0 to 1, of how sharp the edges are.
        low_information_below: score 0 to 1, of how much the pixels differ.
        odd_aspect_beyond: longer side by shorter side.
        odd_size_factor: times larger or smaller than the middle picture of the set.
    """

    severities: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata={"read": severities}
    )
    num_classes: int | None = whole(None, 1, 1_000_000)
    classes: tuple[str, ...] | None = field(default=None, metadata={"read": class_names})
    ignore_label: int | None = whole(None, 0, (1 << 32) - 1)
    max_tokens: int | None = whole(None, 1, 1_000_000_000)
    max_characters: int | None = whole(None, 1, 1_000_000_000)
    tokenizer: str | None = field(default=None, metadata={"read": sha256})
    expect_shape: tuple[int | None, ...] | None = field(default=None, metadata={"read": shape})
    box_tolerance: float = number(1.0, 0, 10_000)
    min_side: int = whole(32, 0, 100_000)
    near_duplicate_distance: int = whole(4, 0, 10)
    drift_threshold: float = number(0.1, 0, 1)
    dark_below: float = number(0.3, 0, 1)
    light_above: float = number(0.95, 0, 1)
    blurry_below: float = number(0.25, 0, 1)
    low_information_below: float = number(0.15, 0, 1)
    odd_aspect_beyond: float = number(3.0, 1, 1_000_000)
    odd_size_factor: float = number(10.0, 1, 1_000_000)

    @classmethod
    def from_json(cls, value: Any) -> "Policy":
        """Read a policy from a parsed JSON object; what is not there has its default.

        Raises:
            BadInput: a key is unknown or its value is not allowed; the sentence names the key.
        """
        policy = cls(**read(cls, value))
        if policy.classes is not None and policy.num_classes not in {None, len(policy.classes)}:
            raise BadInput(
                f"The policy's num_classes is {policy.num_classes:,}, but its classes are "
                f"{len(policy.classes):,}; drop one of the two."
            )
        return policy

    @classmethod
    def from_toml(cls, text: str) -> "Policy":
        """Read a policy from the text of a TOML file, whose keys are the names above.

        Raises:
            BadInput: it is not TOML, or not a policy.
        """
        return cls.from_json(from_toml(text))

    def to_json(self) -> dict[str, Any]:
        """Return all of it as a JSON object, defaults included; ``from_json`` reads it back."""
        value = asdict(self)
        value["severities"] = dict(sorted(self.severities.items()))
        for name in ("classes", "expect_shape"):
            value[name] = None if value[name] is None else list(value[name])
        return value

    def differences(self) -> dict[str, Any]:
        """Return what differs from the defaults, as a JSON object that ``from_json`` reads."""
        usual = Policy().to_json()
        return {name: value for name, value in self.to_json().items() if value != usual[name]}

    def overridden(self, value: Mapping[str, Any]) -> "Policy":
        """Return it with the keys given in place of its own; severities are merged by code.

        Classes given by number or by name replace what was said of classes before.

        Raises:
            BadInput: as of ``from_json``.
        """
        given = Policy.from_json(value)
        merged = {**self.differences(), **value}
        for name, other in (("num_classes", "classes"), ("classes", "num_classes")):
            if name in value and other not in value:
                merged.pop(other, None)
        merged["severities"] = {**self.severities, **given.severities}
        return Policy.from_json(merged)

    def digest(self) -> str:
        """Return the SHA-256 of the policy as canonical JSON, in hexadecimal."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()

    def severity_of(self, code: str) -> Severity | None:
        """Return how bad findings of a code are, or nothing where they are dropped.

        Raises:
            BadInput: there is no such code.
        """
        said = self.severities.get(code)
        if said is None:
            return defect(code).severity
        return None if said == SILENT else Severity(said)

    @property
    def class_count(self) -> int | None:
        """How many classes there are, where the policy knows."""
        return self.num_classes if self.classes is None else len(self.classes)

    def applied(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings with the policy's severities, without the silent ones.

        A finding of a code the policy does not name keeps the severity its check gave it.
        """
        if not self.severities:
            return tuple(findings)
        return tuple(
            finding if said is None else replace(finding, severity=Severity(said))
            for finding in findings
            if (said := self.severities.get(finding.code)) != SILENT
        )


def from_toml(text: str) -> dict[str, Any]:
    """Parse the text of a policy file, without looking at what it says.

    Raises:
        BadInput: it is not TOML.
    """
    if len(text) > MOST_TEXT:
        raise BadInput(f"The policy is longer than {MOST_TEXT:,} characters.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"The policy is not TOML: {error}.") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, or deep nesting
        raise BadInput("The policy is not TOML that can be read.") from None
