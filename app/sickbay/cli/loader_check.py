"""``sickbay scan --loader``: the job's own loader beside the scan."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.contract.finding import SummaryRecord
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy

if TYPE_CHECKING:
    from sickbay.scanner.merging import Merging
    from sickbay.scanner.sink import Sink
    from sickbay.trainer.loading import Checked

LoaderOption = Annotated[
    str | None,
    typer.Option(
        help="Also load every sample as the job does: module:factory returns a Dataset, a "
        "DataLoader, (Dataset, collate), or the job as for triage. This runs that module's code."
    ),
]
LoaderTimeoutOption = Annotated[
    float, typer.Option(help="Seconds that loading one sample or batch may take.", min=0.1)
]
LoaderWorkersOption = Annotated[
    int | None,
    typer.Option(help="Workers of the second pass; the loader's own number, or 2. 0: none.", min=0),
]
_SHOWN = 5
_EVERY = 1000


@dataclass(frozen=True, slots=True)
class LoaderOptions:
    """What was asked for."""

    loader: str | None
    timeout: float
    workers: int | None


def merging(
    sink: "Sink", wanted: LoaderOptions, root: str, policy: Policy
) -> "tuple[Sink, Merging | None]":
    """Go through the loader where that is asked for, and put what it finds in front of the sink.

    Raises:
        BadInput: there is no such loader, or it raises.
    """
    from sickbay.scanner.merging import Merging
    from sickbay.trainer.loading import Options, check

    if wanted.loader is None:
        return sink, None
    options = Options(root, wanted.timeout, wanted.workers, _classes(policy))
    try:
        checked = check(wanted.loader, options, _told)
    except BaseException:
        sink.abort()
        raise
    _say(checked)
    merged = Merging(sink, checked.findings, policy)
    return merged, merged


def finished(merged: "Merging | None", summary: SummaryRecord) -> SummaryRecord:
    """Say what the loader found and the scan did not, and return the totals with both."""
    if merged is None or merged.summary is None:
        return summary
    if unknown := merged.unknown:
        shown = ", ".join(SamplePath(raw).text for raw in unknown[:_SHOWN])
        more = f" and {len(unknown) - _SHOWN:,} more" if len(unknown) > _SHOWN else ""
        typer.echo(
            f"Loader: {len(unknown):,} of these samples are not in this scan: {shown}{more}. Give "
            "the paths to Traced(dataset, paths=…) where the data set does not say them.",
            err=True,
        )
    return merged.summary


def _classes(policy: Policy) -> int | None:
    if policy.num_classes is None and policy.classes is not None:
        return len(policy.classes)
    return policy.num_classes


def _told(fetched: int, total: int | None) -> None:
    if fetched % _EVERY == 0:
        typer.echo(f"Loader: {fetched:,}{f' of {total:,}' if total else ''} samples.", err=True)


def _say(checked: "Checked") -> None:
    for words in checked.said:
        typer.echo(f"Loader: {words}", err=True)
    found = len(checked.findings)
    typer.echo(f"Loader: {checked.fetched:,} samples fetched, {found:,} with findings.", err=True)
