"""What the child that checks is told: once how, and then of each sample what."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sickbay.contract.policy import Policy
from sickbay.scanner.limits import Limits
from sickbay.scanner.table_options import TableOptions

FULL, STRUCTURE = "full", "structure"
QUICK, CAREFUL, HASH_ONLY = range(3)
"""Degrees of care with a file: as usual, without the decoder that crashed, and hash alone."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How a scan checks its samples.

    Attributes:
        limits: what one file may cost.
        policy: what counts as wrong, and how bad it is.
        depth: ``full`` decodes, ``structure`` does not.
        classes: names of the classes, where the layout has them.
        tokenizer: path of the tokenizer file that counts tokens.
        tables: which columns are what, where a person said so.
    """

    limits: Limits = field(default_factory=Limits)
    policy: Policy = field(default_factory=Policy)
    depth: str = FULL
    classes: tuple[str, ...] = ()
    tokenizer: str | None = None
    tables: TableOptions | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can carry it."""
        return {
            "limits": asdict(self.limits),
            "policy": self.policy.to_json(),
            "depth": self.depth,
            "classes": list(self.classes),
            "tokenizer": self.tokenizer,
            "tables": None if self.tables is None else asdict(self.tables),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Setup":
        """Read what :meth:`to_json` wrote."""
        return cls(
            limits=Limits(**value["limits"]),
            policy=Policy.from_json(value["policy"]),
            depth=value["depth"],
            classes=tuple(value["classes"]),
            tokenizer=value["tokenizer"],
            tables=None if value["tables"] is None else TableOptions(**value["tables"]),
        )


@dataclass(frozen=True, slots=True)
class Task:
    """One sample to check: see :class:`sickbay.scanner.sources.Found`.

    ``held`` says that a finding of the source holds it already.
    """

    raw: bytes
    kind: str = "picture"
    side: bytes | None = None
    given: Any = None
    held: bool = False

    @property
    def also(self) -> tuple[bytes, ...]:
        """Raw paths of more files of its own: the other masks of a picture."""
        return also(self.given) if self.kind == "mask" else ()

    def to_json(self) -> list[Any]:
        """Return it as JSON can carry it."""
        side = None if self.side is None else self.side.decode("latin-1")
        return [self.raw.decode("latin-1"), self.kind, side, self.given, self.held]

    @classmethod
    def from_json(cls, value: list[Any]) -> "Task":
        """Read what :meth:`to_json` wrote."""
        raw, kind, side, given, held = value
        return cls(
            raw.encode("latin-1"),
            kind,
            None if side is None else side.encode("latin-1"),
            given,
            held,
        )


def also(given: Any) -> tuple[bytes, ...]:
    """Return the raw paths that ``given`` names of a picture with several masks."""
    return tuple(name.encode("latin-1") for name in (given or {}).get("masks", ()))
