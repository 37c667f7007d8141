"""The command line: the composition root.

Each command is one file beside this one; here they are put together, and errors become one
plain sentence and an exit code (see ``contract/errors.py``).
"""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from sickbay.cli.codes import codes
from sickbay.cli.demo import demo
from sickbay.cli.doctor import doctor
from sickbay.cli.import_error import import_error
from sickbay.cli.login import login_link
from sickbay.cli.policy import policy
from sickbay.cli.pull import pull
from sickbay.cli.release import release
from sickbay.cli.replay import replay
from sickbay.cli.scan import scan
from sickbay.cli.serve import serve
from sickbay.cli.sync import sync
from sickbay.cli.token import token
from sickbay.cli.triage import triage
from sickbay.cli.verify import verify
from sickbay.contract.errors import BadInput, SickbayError

app = typer.Typer(
    name="sickbay",
    help="Find the samples that would break a training run, decide on them, train on the rest.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _program(
    *, shown: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if shown:
        typer.echo(f"sickbay {version('sickbay')}")
        raise typer.Exit


app.command()(demo)
app.command()(serve)
app.command()(scan)
app.command()(release)
app.command()(pull)
app.command()(verify)
app.command()(sync)
app.command()(replay)
app.command()(triage)
app.command()(codes)
app.command()(policy)
app.command()(doctor)
app.command("login-link")(login_link)
app.command("import-error")(import_error)
app.add_typer(token)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except SickbayError as error:
        print(f"sickbay: {error.sentence}", file=sys.stderr)  # noqa: T201 (a command line prints)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if (error.name or "sickbay").partition(".")[0] == "sickbay":
            raise
        words = f"this command needs {error.name}; run `pip install 'sickbay[server]'`."
        print(f"sickbay: {words}", file=sys.stderr)  # noqa: T201 (a command line prints)
        sys.exit(BadInput.exit_code)
