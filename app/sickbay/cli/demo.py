"""``sickbay demo``: a damaged data set, the review pages, one command."""

import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sickbay.cli.state import StateOption, settings

if TYPE_CHECKING:
    from sickbay.settings import Settings


def demo(
    check: Annotated[
        bool, typer.Option("--check", help="Run the whole loop without a browser; exit 0 or 1.")
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the pages in a browser.")
    ] = True,
    state: StateOption = None,
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = 0,
) -> None:
    """Make a small data set, damage some of it, scan it, and open the review pages."""
    if check:
        _check(state)
    else:
        chosen = replace(settings(state), port=port)
        if state is None:
            # Beside the user's own state, never in it.
            chosen = replace(chosen, state=chosen.state.with_name("sickbay-demo"))
        _show(chosen, browser=browser)


def _check(state: Path | None) -> None:
    from sickbay.demo.check import check

    if state is not None:
        check(settings(state).state, typer.echo)
    else:
        with tempfile.TemporaryDirectory(prefix="sickbay-demo-") as folder:
            check(Path(folder), typer.echo)
    typer.echo("The demo works, from the scan to the verified release.")


def _show(chosen: "Settings", *, browser: bool) -> None:
    """Serve the demonstration; a second start goes on where the first was left."""
    from sickbay.cli.scan import scan
    from sickbay.cli.serve import running, stopping
    from sickbay.demo import data_set
    from sickbay.demo.check import DATASET

    root = chosen.state / "data"
    if new := not root.exists():
        typer.echo(f"Drawing a small data set in {root}, and damaging some of it …")
        data_set.make(root)
        scan(str(root), DATASET, no_cache=True, state=chosen.state)
    with stopping(), running(chosen) as server, _training(chosen, server.url, start=new):
        link = server.link()
        typer.echo(f"Log in once, within ten minutes: {link}")
        typer.echo("Stop with Ctrl+C. Everything is kept in " + str(chosen.state))
        if browser:
            webbrowser.open(link)
        server.run()


@contextmanager
def _training(chosen: "Settings", url: str, *, start: bool) -> Iterator[None]:
    """Let a short training run report to the server, slowly enough to be watched."""
    from sickbay.demo.programs import training

    if not start:
        yield
        return
    with training(chosen.state, url, steps=600, pause=0.15):
        typer.echo("A short training run has begun; its curve is on the Runs page.")
        yield
