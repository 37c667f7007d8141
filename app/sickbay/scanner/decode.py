"""Bytes in, facts and findings out: one read gives hash, strict decode and thumbnail."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sickbay.contract.defects import Severity
from sickbay.contract.finding import Finding
from sickbay.contract.policy import Policy
from sickbay.scanner import pillow, structure
from sickbay.scanner.checks.pictures import PICTURE_CHECKS
from sickbay.scanner.checks.quality import QUALITY_CHECKS
from sickbay.scanner.evidence import Evidence, Examined, Fault
from sickbay.scanner.formats import HEAD_BYTES, sniff
from sickbay.scanner.iso import fault_of
from sickbay.scanner.limits import Limits
from sickbay.scanner.task import FULL, Setup

_BY_NAME = {".tga": "TGA", ".dib": "BMP"}
OF_LOOKS = (
    "image.dark",
    "image.light",
    "image.blurry",
    "image.low-information",
    "image.near-duplicate",
    "set.drift",
)
"""Codes of findings that come of how pictures look: a policy that silences all saves the look."""
_CHECKS = (*PICTURE_CHECKS, *QUALITY_CHECKS)
_LINK = re.compile(rb"[\w .~@+-]*(/[\w .~@+-]+)+\n?")


def _no_annotations(_evidence: Evidence) -> tuple[Finding, ...]:
    return ()


def examine(
    data: bytes,
    suffix: str,
    setup: Setup,
    *,
    careful: bool = False,
    held: bool = False,
    annotations: Callable[[Evidence], Iterable[Finding]] = _no_annotations,
) -> Examined:
    """Check one picture's bytes.

    Args:
        data: the whole file.
        suffix: its name's extension in lower case, with the dot.
        setup: what it may cost, and what counts as wrong.
        careful: leave out the decoder that crashed on it before.
        held: whether something else holds it already.
        annotations: checks what is said of the picture against what it is.

    Returns:
        Facts, findings and, for a sample to be held, a thumbnail where one can be made.
    """
    digest = hashlib.sha256(data).hexdigest()
    if not data:
        return Examined(
            size=0,
            sha256=digest,
            findings=(Finding.of("file.empty", "", "The file has no bytes."),),
        )
    kind, full = kind_of(data, suffix), setup.depth == FULL
    evidence = _evidence(data, kind, setup, careful=careful)
    findings = setup.policy.applied([*_findings(evidence, suffix, setup), *annotations(evidence)])
    held = held or any(finding.severity is Severity.BLOCK for finding in findings)
    shown = _thumbnail(data, kind, evidence, setup) if held and kind and full else None
    return Examined(
        size=len(data),
        sha256=digest,
        width=evidence.width,
        height=evidence.height,
        format=evidence.format,
        mode=evidence.mode,
        findings=tuple(_with_head(finding, data) for finding in findings)
        if held and not shown
        else findings,
        thumbnail=shown,
        traits=evidence.traits,
        decoded=full and evidence.format is not None,
    )


def _evidence(data: bytes, kind: str | None, setup: Setup, *, careful: bool) -> Evidence:
    """Decode it, or look at its structure alone, as deep as the scan goes."""
    evidence = Evidence()
    if setup.depth == FULL:
        decode(data, kind, evidence, setup.limits, careful=careful)
        _look_at(evidence, setup.policy)
    else:
        _first_look(data, kind, evidence, setup.limits)
    return evidence


def _look_at(evidence: Evidence, policy: Policy) -> None:
    """Measure how a sound picture looks; of a broken one it would tell of the damage."""
    if evidence.small is not None and evidence.sound and not _nobody_asks(policy):
        from sickbay.scanner import full  # noqa: PLC0415 (see there)

        full.look_at(evidence)


def _thumbnail(data: bytes, kind: str, evidence: Evidence, setup: Setup) -> bytes | None:
    from sickbay.scanner import full  # noqa: PLC0415 (see there)

    return full.thumbnail(data, kind, setup.limits.thumbnail_side, cut=evidence.cut)


def _nobody_asks(policy: Policy) -> bool:
    """Whether no finding can come of how pictures look."""
    return bool(policy.severities) and all(policy.severity_of(code) is None for code in OF_LOOKS)


def _findings(evidence: Evidence, suffix: str, setup: Setup) -> Iterator[Finding]:
    for check in _CHECKS:
        if (finding := check(evidence, suffix, setup)) is not None:
            yield finding


def unchecked(data: bytes) -> Examined:
    """Give size and hash of a file that no decoder may see again."""
    head = data[:HEAD_BYTES].hex()
    return Examined(size=len(data), sha256=hashlib.sha256(data).hexdigest(), head=head)


def kind_of(data: bytes, suffix: str) -> str | None:
    """Name the format of the content; some have no signature and go by their name."""
    return sniff(data[:HEAD_BYTES]) or _BY_NAME.get(suffix)


def decode(
    data: bytes, kind: str | None, evidence: Evidence, limits: Limits, *, careful: bool = False
) -> None:
    """Let the decoder of that kind fill in the evidence."""
    if kind is None or _without_decoder(kind):
        _first_look(data, kind, evidence, limits)
    else:
        from sickbay.scanner import full  # noqa: PLC0415 (see there)

        full.decode(data, kind, evidence, limits, careful=careful)


def _without_decoder(kind: str) -> bool:
    return kind == "JXL" or (kind == "HEIF" and not pillow.heif_installed())


def _first_look(data: bytes, kind: str | None, evidence: Evidence, limits: Limits) -> None:
    """Look at what can be seen without a decoder."""
    if kind is None:
        evidence.fault = Fault("image.undecodable", _no_picture(data))
    elif _without_decoder(kind):
        evidence.format = kind
        lacking = Fault("image.unsupported", f"No decoder for {kind} is installed here.")
        evidence.fault = (kind == "HEIF" and fault_of(data, kind)) or lacking
    else:
        structure.look(data, kind, evidence, frames=limits.frames)


def _no_picture(data: bytes) -> str:
    """Say what it seems to be instead; links come out of some archives as text."""
    if len(data) < 4096 and _LINK.fullmatch(data):  # noqa: PLR2004 (the longest path)
        return "It holds a path as text: a link that was copied or checked out as a file."
    if not data.strip(b"\0"):
        return "It holds nothing but zero bytes."
    return "Its first bytes are those of no picture format."


def _with_head(finding: Finding, data: bytes) -> Finding:
    """Show the first bytes where there is no picture to show."""
    if finding.severity is not Severity.BLOCK:
        return finding
    return replace(finding, detail={**finding.detail, "head": data[:HEAD_BYTES].hex()})
