"""A picture and the annotation file beside it, checked in this process."""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.pictures import jpeg

from sickbay.contract.finding import Finding
from sickbay.scanner.evidence import Examined
from sickbay.scanner.examine.folder import FilesGiven
from sickbay.scanner.examine.kinds import examiner
from sickbay.scanner.task import QUICK, Setup, Task

PICTURE = jpeg(0, (160, 120))
_LOOKS = {"image.dark", "image.light", "image.blurry", "image.low-information", "image.odd-aspect"}
"""What is said of a drawn picture's looks is no matter of its annotations."""


@dataclass
class Checked:
    """What was found, by its place in the annotation file."""

    examined: Examined
    found: dict[str | None, list[Finding]] = field(default_factory=dict)

    def codes(self, item: str | None = None) -> list[str]:
        """Codes of one item's findings in the annotation file."""
        return [finding.code for finding in self.found.get(item, ())]

    @property
    def all_codes(self) -> list[str]:
        """Codes of everything that was found."""
        return [finding.code for finding in self.examined.findings]


def checked(
    kind: str,
    side: bytes | None,
    *,
    picture: bytes = PICTURE,
    setup: Setup | None = None,
    given: Any = None,
    names: tuple[str, str] = ("images/a.jpg", "labels/a.txt"),
) -> Checked:
    """Check one picture with its side file."""
    raw, beside = (name.encode() for name in names)
    contents = {raw: picture} if side is None else {raw: picture, beside: side}
    task = Task(raw, kind, beside, given)
    found = examiner(kind)(FilesGiven(contents), task, setup or Setup(), QUICK)
    kept = tuple(one for one in found.findings if one.code not in _LOOKS)
    made = Checked(replace(found, findings=kept))
    for finding in made.examined.findings:
        if finding.file == names[1]:
            made.found.setdefault(finding.item, []).append(finding)
    return made
