"""Options of ``sickbay scan`` that say how it runs: depth, limits, where, and what it remembers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sickbay.contract.errors import BadInput
from sickbay.contract.finding import Depth

if TYPE_CHECKING:
    from sickbay.contract.policy import Policy
    from sickbay.scanner.cache import Cache, Counts
    from sickbay.scanner.engine import Progress, Step
    from sickbay.scanner.limits import Limits
    from sickbay.scanner.table_options import TableOptions
    from sickbay.scanner.task import Setup

MIB = 1 << 20
WorkersOption = Annotated[
    int | None, typer.Option(help="Decoding processes; one a processor by default.", min=1)
]
DepthOption = Annotated[
    Depth, typer.Option(help="full decodes; structure does not, for a first look at millions.")
]
CpuSecondsOption = Annotated[
    float | None, typer.Option(help="CPU time that one file may cost; 5 by default.", min=0.1)
]
MemoryOption = Annotated[
    int | None,
    typer.Option(help="Megabytes of memory that one file may cost; 512 by default.", min=16),
]
ExecutorOption = Annotated[
    str | None,
    typer.Option(help="Check on a Dask cluster: dask://HOST:8786, where the root is the same."),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder that remembers what was found, for rescans.",
        readable=False,
        envvar="SICKBAY_CACHE",
    ),
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Remember nothing, and read everything.")
]
VerifyOption = Annotated[
    bool,
    typer.Option("--verify-hashes", help="Read everything again; say what changed unseen."),
]
PathColumnOption = Annotated[
    str | None, typer.Option(help="Column or key that names pictures (csv, jsonl).")
]
LabelColumnOption = Annotated[str | None, typer.Option(help="Column or key of the label.")]
TextColumnOption = Annotated[str | None, typer.Option(help="Column or key of the text.")]
DelimiterOption = Annotated[
    str | None, typer.Option(help="What stands between two cells of a table; \\t is a tab.")
]


def tables(
    path: str | None, label: str | None, text: str | None, delimiter: str | None
) -> "TableOptions | None":
    """Return what was said of tables, nothing where nothing was.

    Raises:
        BadInput: the delimiter is none.
    """
    from sickbay.scanner.table_options import TableOptions

    cut = "\t" if delimiter == "\\t" else delimiter
    if cut is not None and (len(cut) != 1 or cut in '"\r\n'):
        raise BadInput("A delimiter is one character, and neither a quote nor a line break.")
    options = TableOptions(path, label, text, cut)
    return None if options == TableOptions() else options


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a scan runs, as given on the command line."""

    workers: int | None
    depth: Depth
    cpu_seconds: float | None
    memory: int | None
    executor: str | None
    cache: Path | None
    no_cache: bool
    verify: bool

    def setup(
        self, policy: "Policy", tokenizer: Path | None, tables: "TableOptions | None" = None
    ) -> "Setup":
        """Return how samples are checked.

        Raises:
            BadInput: the tokenizer's file cannot be read as one.
        """
        from sickbay.scanner import tokens
        from sickbay.scanner.task import Setup

        path = None if tokenizer is None else str(tokenizer.expanduser().absolute())
        if path is not None:
            tokens.load(path)
        limits = self._limits()
        return Setup(limits, policy, self.depth, tokenizer=path, tables=tables)

    def _limits(self) -> "Limits":
        from sickbay.scanner.limits import Limits

        given: dict[str, Any] = {}
        if self.cpu_seconds is not None:
            given["cpu_seconds"] = self.cpu_seconds
            given["wall_seconds"] = max(Limits().wall_seconds, 6 * self.cpu_seconds)
        if self.memory is not None:
            given["memory"] = self.memory * MIB
        return Limits(**given)

    def opened_cache(self) -> "Cache | None":
        """Return the cache of earlier scans, unless none is wanted."""
        from sickbay.scanner.cache import Cache, usual_folder

        if self.no_cache:
            return None
        folder = usual_folder() if self.cache is None else self.cache.expanduser().absolute()
        return Cache(folder, verify=self.verify)


def cache_said(counts: "Counts") -> Iterator[str]:
    """Say what a scan had from its cache, in lines; nothing where there was nothing."""
    if counts.reused or counts.gone:
        gone = f", and {counts.gone:,} are gone" if counts.gone else ""
        yield f"{counts.reused:,} samples are unchanged, {counts.read:,} were read{gone}."
    if counts.trouble:
        yield f"The next scan will read more than it needs to: {counts.trouble}."


@contextmanager
def progress_bar() -> "Iterator[Progress]":
    """Show what it is at, how far, the rate and the time left, on a terminal's standard error."""
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
