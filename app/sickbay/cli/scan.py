"""``sickbay scan``: read every sample once; into a file, to a server, or into the local state."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.loader_check import (
    LoaderOption,
    LoaderOptions,
    LoaderTimeoutOption,
    LoaderWorkersOption,
    finished,
    merging,
)
from sickbay.cli.policy_options import (
    BoxToleranceOption,
    ClassesOption,
    ExpectShapeOption,
    IgnoreLabelOption,
    MaxTokensOption,
    NumClassesOption,
    PolicyOption,
    PolicyOptions,
    TokenizerOption,
    chosen,
)
from sickbay.cli.policy_options import said as policy_said
from sickbay.cli.scan_options import (
    CacheOption,
    CpuSecondsOption,
    DelimiterOption,
    DepthOption,
    ExecutorOption,
    LabelColumnOption,
    MemoryOption,
    NoCacheOption,
    PathColumnOption,
    RunOptions,
    TextColumnOption,
    VerifyOption,
    WorkersOption,
    cache_said,
    progress_bar,
    tables,
)
from sickbay.cli.state import StateOption, settings, user
from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Depth
from sickbay.contract.policy import Policy

if TYPE_CHECKING:
    from sickbay.cli.local_sink import LocalSink
    from sickbay.client.scan_upload import ServerSink
    from sickbay.contract.finding import SummaryRecord
    from sickbay.scanner.sink import Sink
    from sickbay.scanner.sources.choose import Choice
    from sickbay.scanner.task import Setup

_CODES_SHOWN = 8
NOT_DECODED = (
    "Nothing was decoded: damage inside a picture's data that leaves its structure whole, and "
    "what only pixels show, was not looked for; --depth full does."
)

TokenOption = Annotated[
    str | None, typer.Option(help="The server's token.", envvar="SICKBAY_TOKEN")
]
_LAYOUTS = (
    "How it is laid out: imagefolder, masks, coco, yolo, voc, csv, jsonl, text or arrays; "
    "auto looks, and says which it is."
)


def scan(  # noqa: PLR0917 (options of a command line)
    root: Annotated[
        str, typer.Argument(help="Folder that holds the samples, or a URL: s3://bucket/folder.")
    ],
    dataset: Annotated[str, typer.Option(help="The data set's name.")],
    layout: Annotated[str, typer.Option(help=_LAYOUTS)] = "auto",
    server: Annotated[str | None, typer.Option(help="Send the records to this URL.")] = None,
    token: TokenOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the records to this file.", readable=False)
    ] = None,
    depth: DepthOption = Depth.FULL,
    workers: WorkersOption = None,
    cpu_seconds: CpuSecondsOption = None,
    memory: MemoryOption = None,
    executor: ExecutorOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    verify_hashes: VerifyOption = False,
    policy: PolicyOption = None,
    num_classes: NumClassesOption = None,
    classes: ClassesOption = None,
    max_tokens: MaxTokensOption = None,
    tokenizer: TokenizerOption = None,
    expect_shape: ExpectShapeOption = None,
    box_tolerance: BoxToleranceOption = None,
    ignore_label: IgnoreLabelOption = None,
    path_column: PathColumnOption = None,
    label_column: LabelColumnOption = None,
    text_column: TextColumnOption = None,
    delimiter: DelimiterOption = None,
    loader: LoaderOption = None,
    loader_timeout: LoaderTimeoutOption = 60.0,
    loader_workers: LoaderWorkersOption = None,
    state: StateOption = None,
) -> None:
    """Scan a data set and hold what would break or poison a training run."""
    here, root = _place(root)
    limits = (max_tokens, tokenizer, expect_shape, box_tolerance, ignore_label)
    wanted = PolicyOptions(policy, num_classes, classes, *limits)
    options = RunOptions(
        workers, depth, cpu_seconds, memory, executor, cache, no_cache, verify_hashes
    )
    columns = tables(path_column, label_column, text_column, delimiter)
    with _sink(here, dataset, server=server, token=token, out=out, state=state) as (sink, stored):
        setup = options.setup(_policy(wanted, stored), tokenizer, columns)
        load = LoaderOptions(loader, loader_timeout, loader_workers)
        into, merged = merging(sink, load, root, setup.policy)
        summary = _run(root, dataset, layout, into, setup, options=options)
    _say(finished(merged, summary))


def _place(root: str) -> tuple[Path | None, str]:
    """Return the root as a folder of this machine, if it is one, and as what is scanned."""
    from sickbay.scanner.trees.opened import is_remote

    if is_remote(root):
        return None, root
    here = Path(root.removeprefix("file://")).expanduser().absolute()
    return here, str(here)


def _policy(wanted: PolicyOptions, stored: Policy) -> Policy:
    """Say on standard error what of the policy is not as by default, and return it."""
    policy = chosen(wanted, stored)
    if words := policy_said(policy):
        typer.echo(words, err=True)
    return policy


def _run(
    root: str, dataset: str, layout: str, sink: "Sink", setup: "Setup", *, options: RunOptions
) -> "SummaryRecord":
    from sickbay.scanner.engine import scan as run

    cache = options.opened_cache()
    with progress_bar() as progress:
        summary = run(
            root,
            dataset=dataset,
            sink=sink,
            layout=layout,
            workers=options.workers,
            setup=setup,
            progress=progress,
            executor=options.executor,
            chosen=_say_chosen,
            cache=cache,
        )
    for line in () if cache is None else cache_said(cache.counts):
        typer.echo(line, err=True)
    if options.depth is Depth.STRUCTURE:
        typer.echo(NOT_DECODED, err=True)
    return summary


def _say_chosen(choice: "Choice") -> None:
    """Say on standard error which layout it is, why, and what to do where it is another."""
    if not choice.why:
        return
    others = f" {', '.join(choice.others)} would fit too." if choice.others else ""
    typer.echo(
        f"Layout {choice.name}: {choice.why}.{others} Give --layout to choose another.", err=True
    )


def _say(summary: "SummaryRecord") -> None:
    if summary.codes:
        typer.echo(findings_said(summary.codes), err=True)
    typer.echo(said(summary))


def findings_said(codes: Mapping[str, int]) -> str:
    """Say what was found most, of samples and of files that are none."""
    often = sorted(codes, key=lambda code: (-codes[code], code))
    shown = ", ".join(f"{code} {codes[code]:,}" for code in often[:_CODES_SHOWN])
    more = f" and {len(often) - _CODES_SHOWN:,} codes more" if len(often) > _CODES_SHOWN else ""
    return f"Findings: {shown}{more}."


def said(summary: "SummaryRecord") -> str:
    """Return a scan's last line: ``found N = clean N + held N + skipped N (reasons)``."""
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in summary.reasons.items())
    return (
        f"found {summary.found:,} = clean {summary.clean:,} + held {summary.held:,} "
        f"+ skipped {summary.skipped:,}{f' ({reasons})' if reasons else ''}"
    )


@contextmanager
def _sink(
    root: Path | None,
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
def _into_state(root: Path | None, dataset: str, state: Path | None) -> "Iterator[LocalSink]":
    from sickbay.blobs import Blobs
    from sickbay.cli.local_sink import LocalSink
    from sickbay.database.schema import open_database

    chosen = settings(state)
    if root is not None:
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
