"""A progress bar over bytes, for commands that read a whole tree."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bytes_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to call with the bytes just dealt with, and the bytes in all.

    The bar is on standard error and shows on a terminal only; what is printed meanwhile appears
    above it, and goes into a file where standard output does.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn(label),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(label, total=None)

        def step(size: int, total: int) -> None:
            bar.update(task, advance=size, total=total)

        yield step
