"""A replacement for a sample's file: it must pass the checks that the original failed."""

from pathlib import PurePosixPath

from sickbay.contract.defects import Severity
from sickbay.contract.errors import Refused
from sickbay.quarantine.decisions.repair import Facts
from sickbay.scanner.evidence import Examined
from sickbay.scanner.formats import SUFFIXES
from sickbay.web.site import Site

MAX_REPLACEMENT = 64 << 20
"""Bytes of an uploaded replacement."""
_SUFFIX_MOST = 16
_OTHER_FORMAT = "image.wrong-extension"


class UnfitFile(Refused):
    """The uploaded file has a fault itself."""


def accept(site: Site, data: bytes, path: str) -> Facts:
    """Check a file in a guarded child and store it; ``path`` is the sample's it stands in for.

    Raises:
        UnfitFile: it has a blocking finding of its own, or its format does not fit the sample's
            name; the sentence says which.
        StorageFailed: it cannot be stored.
        Busy: all decoders are at work.
    """
    found = site.guards.check_bytes(data, f"file{_suffix(path)}")
    _refuse_unfit(found)
    _refuse_other_format(found, _suffix(path))
    thumbnail = None if found.thumbnail is None else site.blobs.put(found.thumbnail)
    return Facts(
        sha256=site.blobs.put(data),
        size=len(data),
        width=found.width,
        height=found.height,
        format=found.format,
        mode=found.mode,
        thumbnail=thumbnail,
    )


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()[:_SUFFIX_MOST]


def _refuse_unfit(found: Examined) -> None:
    faults = [one for one in found.findings if one.severity is Severity.BLOCK]
    if faults:
        raise UnfitFile(f"{faults[0].message} ({faults[0].code})")
    if found.width is None:
        raise UnfitFile("No decoder here gives a picture of it, so it cannot be checked.")


def _refuse_other_format(found: Examined, suffix: str) -> None:
    """Refuse what loaders that go by the name would misread: the name stays the sample's."""
    if any(one.code == _OTHER_FORMAT for one in found.findings):
        fit = next(kind for kind, suffixes in SUFFIXES.items() if suffix in suffixes)
        raise UnfitFile(
            f"The sample's name ends in {suffix}, the new file is {found.format}. Save the picture "
            f"as {fit}, then choose that file. ({_OTHER_FORMAT})"
        )
