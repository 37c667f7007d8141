"""A replacement for a sample's file: it must pass the checks that the original failed."""

from dataclasses import replace
from pathlib import PurePosixPath

from sickbay.contract.defects import Severity
from sickbay.contract.errors import Refused
from sickbay.contract.policy import Policy
from sickbay.quarantine.decisions.repair import Facts
from sickbay.quarantine.queue.kinds import SampleKind
from sickbay.quarantine.queue.sample import SampleView
from sickbay.quarantine.scan_facts import Judged
from sickbay.scanner.evidence import Examined
from sickbay.scanner.formats import SUFFIXES
from sickbay.scanner.guard import Guard
from sickbay.scanner.task import Setup
from sickbay.web.site import Site

MAX_REPLACEMENT = 64 << 20
"""Bytes of an uploaded replacement."""
_SUFFIX_MOST = 16
_OTHER_FORMAT = "image.wrong-extension"
_IN_PIXELS = frozenset({"coco", "voc", "masks"})
"""Layouts whose annotations count pixels, and so fit pictures of one size only."""


class UnfitFile(Refused):
    """The uploaded file has a fault itself."""


def accept(site: Site, data: bytes, sample: SampleView, judged: Judged) -> Facts:
    """Check a file in a guarded child and store it.

    Args:
        site: the running server.
        data: the file.
        sample: the one it is to stand in for.
        judged: how the scan in force judged that.

    Raises:
        UnfitFile: it has a blocking finding of its own, or its format or size does not fit the
            sample; the sentence says which.
        StorageFailed: it cannot be stored.
        Busy: all decoders are at work.
    """
    suffix = _suffix(sample.path)
    found = _checked(site, data, suffix, sample.kind, judged.policy)
    _refuse_unfit(found, sample.kind)
    _refuse_other_format(found, suffix)
    _refuse_other_size(found, sample, judged.layout)
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


def _checked(site: Site, data: bytes, suffix: str, kind: SampleKind, policy: Policy) -> Examined:
    """Check the file as its kind is checked, by the policy that the original was judged by."""
    if kind is SampleKind.ROW:
        raise UnfitFile("No file can stand for a row: correct the row and scan again.")
    if policy == Policy():
        return site.guards.check_bytes(data, f"file{suffix}", kind.value)
    with Guard(Setup(policy=_without_tokenizer(policy))) as guard:
        return guard.check_bytes(data, f"file{suffix}", kind.value)


def _without_tokenizer(policy: Policy) -> Policy:
    """Leave out the limit in tokens where only the scanner's machine can count them."""
    return policy if policy.tokenizer is None else replace(policy, tokenizer=None, max_tokens=None)


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower()[:_SUFFIX_MOST]


def _refuse_unfit(found: Examined, kind: SampleKind) -> None:
    faults = [one for one in found.findings if one.severity is Severity.BLOCK]
    if faults:
        raise UnfitFile(f"{faults[0].message} ({faults[0].code})")
    if kind is SampleKind.PICTURE and found.width is None:
        raise UnfitFile("No decoder here gives a picture of it, so it cannot be checked.")
    if not found.decoded:
        raise UnfitFile("Nothing here reads it, so it cannot be checked.")


def _refuse_other_format(found: Examined, suffix: str) -> None:
    """Refuse what loaders that go by the name would misread: the name stays the sample's."""
    if any(one.code == _OTHER_FORMAT for one in found.findings):
        fit = next(kind for kind, suffixes in SUFFIXES.items() if suffix in suffixes)
        raise UnfitFile(
            f"The sample's name ends in {suffix}, the new file is {found.format}. Save the picture "
            f"as {fit}, then choose that file. ({_OTHER_FORMAT})"
        )


def _refuse_other_size(found: Examined, sample: SampleView, layout: str) -> None:
    """Refuse a picture that the sample's boxes and masks would not fit any more."""
    if layout not in _IN_PIXELS or None in {sample.width, sample.height}:
        return
    if (found.width, found.height) != (sample.width, sample.height):
        raise UnfitFile(
            f"The annotations are for {sample.width} by {sample.height} pixels, the new picture "
            f"has {found.width} by {found.height}. Choose one of the same size."
        )
