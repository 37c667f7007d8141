"""``sickbay scan``: read every sample once; into a file, to a server, or into the local state."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.policy_options import (
    BoxToleranceOption,
    ClassesOption,
    ExpectShapeOption,
    MaxTokensOption,
    NumClassesOption,
    PolicyOption,
    PolicyOptions,
    TokenizerOption,
    chosen,
)
from sickbay.cli.policy_options import said as policy_said
from sickbay.cli.state import StateOption, settings, user
from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy

if TYPE_CHECKING:
    from sickbay.cli.local_sink import LocalSink
    from sickbay.client.scan_upload import ServerSink
    from sickbay.contract.finding import SummaryRecord
    from sickbay.scanner.engine import Progress, Step
    from sickbay.scanner.sink import Sink
    from sickbay.scanner.sources.choose import Choice
    from sickbay.scanner.task import Setup


def scan(  # noqa: PLR0917 (options of a command line)
    root: Annotated[Path, typer.Argument(help="Folder that holds the samples.", readable=False)],
    dataset: Annotated[str, typer.Option(help="The data set's name.")],
    layout: Annotated[str, typer.Option(help="How it is laid out; auto looks and says.")] = "auto",
    server: Annotated[str | None, typer.Option(help="Send the records to this URL.")] = None,
    token: Annotated[
        str | None, typer.Option(help="The server's token.", envvar="SICKBAY_TOKEN")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the records to this file.", readable=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Decoding processes; one a processor by default.", min=1)
    ] = None,
    policy: PolicyOption = None,
    num_classes: NumClassesOption = None,
    classes: ClassesOption = None,
    max_tokens: MaxTokensOption = None,
    tokenizer: TokenizerOption = None,
    expect_shape: ExpectShapeOption = None,
    box_tolerance: BoxToleranceOption = None,
    state: StateOption = None,
) -> None:
    """Scan a data set and hold what would break or poison a training run."""
    from sickbay.scanner.engine import scan as run

    root = root.expanduser().absolute()
    wanted = PolicyOptions(
        policy, num_classes, classes, max_tokens, tokenizer, expect_shape, box_tolerance
    )
    with (
        _sink(root, dataset, server=server, token=token, out=out, state=state) as (sink, stored),
        _progress() as progress,
    ):
        summary = run(
            root,
            dataset=dataset,
            sink=sink,
            layout=layout,
            workers=workers,
            setup=_setup(wanted, stored),
            progress=progress,
            chosen=_say_chosen,
        )
    typer.echo(said(summary))


def _setup(wanted: PolicyOptions, stored: Policy) -> "Setup":
    """Say on standard error what of the policy is not as by default, and return it."""
    from sickbay.scanner.task import Setup

    policy = chosen(wanted, stored)
    if words := policy_said(policy):
        typer.echo(words, err=True)
    tokenizer = None if wanted.tokenizer is None else wanted.tokenizer.expanduser().absolute()
    return Setup(policy=policy, tokenizer=None if tokenizer is None else str(tokenizer))


def _say_chosen(choice: "Choice") -> None:
    """Say on standard error which layout it is, why, and what to do where it is another."""
    if not choice.why:
        return
    others = f" {', '.join(choice.others)} would fit too." if choice.others else ""
    typer.echo(
        f"Layout {choice.name}: {choice.why}.{others} Give --layout to choose another.", err=True
    )


def said(summary: "SummaryRecord") -> str:
    """Return a scan's last line: ``found N = clean N + held N + skipped N (reasons)``."""
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items())
    return (
        f"found {summary.found:,} = clean {summary.clean:,} + held {summary.held:,} "
        f"+ skipped {summary.skipped:,}{f' ({reasons})' if reasons else ''}"
    )


@contextmanager
def _sink(
    root: Path,
    dataset: str,
    *,
    server: str | None,
    token: str | None,
    out: Path | None,
    state: Path | None,
) -> "Iterator[tuple[Sink, Policy]]":
    """Give where the records go, and the data set's own policy as it is known there."""
    if out is not None and server is not None:
        raise BadInput("Give --server or --out, not both.")
    if out is not None:
        from sickbay.scanner.sink import NdjsonSink

        yield NdjsonSink(out), Policy()
    elif server is not None:
        to_server = _to_server(server, token)
        yield to_server, to_server.stored_policy(dataset)
    else:
        with _into_state(root, dataset, state) as into_state:
            yield into_state, into_state.stored_policy()


def _to_server(url: str, token: str | None) -> "ServerSink":
    from sickbay.client.http import Server
    from sickbay.client.scan_upload import ServerSink

    if token is None:
        raise BadInput("--server needs --token; `sickbay token new NAME --scope scan` makes one.")
    return ServerSink(Server(url, token))


@contextmanager
def _into_state(root: Path, dataset: str, state: Path | None) -> "Iterator[LocalSink]":
    from sickbay.blobs import Blobs
    from sickbay.cli.local_sink import LocalSink
    from sickbay.database.schema import open_database

    chosen = settings(state)
    _refuse_state_below(root, chosen.state)
    database = open_database(chosen.database)
    try:
        blobs = Blobs(chosen.blobs)
        yield LocalSink(database, blobs, root=root, by=user(), dataset=dataset)
    finally:
        database.close()


def _refuse_state_below(root: Path, state: Path) -> None:
    """Refuse to write below the root: thumbnails there would be the next scan's samples."""
    if state.resolve().is_relative_to(root.resolve()):
        raise BadInput(
            f"The state folder {state} lies in the data set's root {root}, which is never written "
            "to; give another with --state."
        )


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Show how far it is, the rate and the time left, on a terminal's standard error."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from sickbay.scanner.engine import Step

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    # Where there is no terminal it would leave an empty line before what an error says.
    shown = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("", total=None, rate="")

        def report(step: "Step", done: int, found: int) -> None:
            walking = step is Step.WALKING  # the total is known only once all are found
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            rate = f"{speed:,.0f}/s" if speed else ""
            bar.update(
                task,
                description=step,
                completed=found if walking else done,
                total=None if walking else found,
                rate=rate,
            )

        yield report
