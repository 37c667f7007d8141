"""The catalogue of finding codes: what each means, how bad it is, what to do.

A code is ``family.defect``. ``block`` holds the sample for a decision, ``warn`` is shown beside
it, ``note`` is a remark on something unusual but valid. ``sickbay codes`` prints this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sickbay.contract.errors import BadInput


class Severity(StrEnum):
    """How bad a finding is; declared worst first."""

    BLOCK = "block"
    WARN = "warn"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst; sorts findings worst first."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Defect:
    """One code of the catalogue."""

    code: str
    severity: Severity
    meaning: str
    advice: str

    @property
    def family(self) -> str:
        """The part before the dot."""
        return self.code.partition(".")[0]


_BLOCK, _WARN, _NOTE = Severity

_CATALOGUE = (
    Defect(
        "file.empty",
        _BLOCK,
        "The file has no bytes.",
        "Copy it again from its source, or leave it out.",
    ),
    Defect(
        "file.missing", _BLOCK, "The file is named but not there.", "Restore it, or leave it out."
    ),
    Defect(
        "file.unreadable",
        _BLOCK,
        "The file cannot be read.",
        "Check its permissions and the disk, then scan again.",
    ),
    Defect(
        "file.not-regular",
        _BLOCK,
        "It is a device, pipe, socket or folder, not a file.",
        "Remove it from the data set.",
    ),
    Defect(
        "file.unsafe-path",
        _BLOCK,
        "The name cannot be written safely into a manifest, or leads out of the data set.",
        "Rename the file, then scan again.",
    ),
    Defect(
        "file.name-collision",
        _WARN,
        "Another name differs from this one only in upper and lower case.",
        "Rename one of them: on some systems one overwrites the other.",
    ),
    Defect(
        "file.changed",
        _BLOCK,
        "The file changed while it was read.",
        "Scan again when nothing writes to the data set.",
    ),
    Defect(
        "image.undecodable",
        _BLOCK,
        "No decoder gives a picture.",
        "Replace the file, or leave it out.",
    ),
    Defect(
        "image.unsupported",
        _WARN,
        "Sound by its signature, but no decoder for it is installed here.",
        "Install the decoder (for HEIC: sickbay[heif]), or convert the file.",
    ),
    Defect(
        "image.truncated",
        _BLOCK,
        "The data end before the picture is complete.",
        "Copy it again from its source, or leave it out.",
    ),
    Defect(
        "image.damaged",
        _BLOCK,
        "It decodes, but its data or a checksum is provably wrong.",
        "Replace the file with an intact copy, or leave it out.",
    ),
    Defect(
        "image.wrong-extension",
        _NOTE,
        "The content is of another format than the name says.",
        "Rename the file if your loader goes by extension.",
    ),
    Defect(
        "image.bomb",
        _BLOCK,
        "It inflates to far more than its header states, or than is allowed.",
        "Leave it out.",
    ),
    Defect(
        "image.huge",
        _NOTE,
        "It has more pixels than common loaders accept by default.",
        "Scale it down, or raise the loader's limit.",
    ),
    Defect(
        "image.too-small",
        _NOTE,
        "One of its sides is very short.",
        "Check that it shows what its label says.",
    ),
    Defect(
        "image.odd-mode",
        _NOTE,
        "Its colour mode differs from plain RGB or from the rest of the set.",
        "Convert in the loader, and check that the conversion is right.",
    ),
    Defect(
        "image.exif-rotated",
        _NOTE,
        "Its metadata ask the viewer to turn it; many loaders do not.",
        "Apply the rotation in the loader.",
    ),
    Defect(
        "image.animated", _NOTE, "It has more than one frame.", "Check which frame the label means."
    ),
    Defect(
        "image.trailing-data",
        _NOTE,
        "Bytes follow the end of the picture.",
        "Nothing, if your loader reads it.",
    ),
    Defect(
        "image.duplicate",
        _WARN,
        "The same content stands elsewhere in the same split.",
        "Keep one copy.",
    ),
    Defect(
        "set.split-leak",
        _BLOCK,
        "The same content stands in more than one split.",
        "Keep it in one split only; decide all copies together.",
    ),
    Defect(
        "decoder.crashed",
        _BLOCK,
        "The decoder crashed on this file.",
        "Leave it out, or replace it with a re-encoded copy.",
    ),
    Defect(
        "decoder.timed-out",
        _BLOCK,
        "Checking this file took longer than allowed.",
        "Leave it out, or allow more time.",
    ),
    Defect(
        "decoder.out-of-memory",
        _BLOCK,
        "Checking this file took more memory than allowed.",
        "Leave it out, or replace it with a smaller copy.",
    ),
)

DEFECTS: Mapping[str, Defect] = MappingProxyType({defect.code: defect for defect in _CATALOGUE})


def defect(code: str) -> Defect:
    """Return the catalogue's entry for ``code``.

    Raises:
        BadInput: the catalogue has no such code.
    """
    try:
        return DEFECTS[code]
    except KeyError:
        raise BadInput(
            f"There is no finding code {code[:80]!r}; `sickbay codes` lists them."
        ) from None
