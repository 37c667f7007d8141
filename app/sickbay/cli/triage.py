"""``sickbay triage``: take a training job apart, stage by stage."""

import json
import textwrap
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from sickbay.contract.errors import BadInput
from sickbay.contract.opening import Opened
from sickbay.contract.report import Passed, Report, Stage

_WIDTH = 79
_NAME, _SECONDS = 21, 8
_MARKS = {Passed.PASSED: "ok", Passed.FAILED: "FAILED", Passed.SKIPPED: "-"}


class Device(StrEnum):
    """Where the model is tried."""

    CPU = "cpu"
    CUDA = "cuda"


FactoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODULE:FACTORY",
        help="Returns (data, model, criterion, optimizer), or a sickbay.trainer.TriageJob. This "
        "runs that module's code.",
    ),
]
StepsOption = Annotated[int, typer.Option(help="Steps on one batch.", min=1)]
WorkersOption = Annotated[
    int | None, typer.Option(help="Workers; the loader's own number, or 2. 0: none.", min=0)
]
TimeoutOption = Annotated[
    float, typer.Option(help="Seconds that a sample, batch, pass or step may take.", min=0.1)
]
DeviceOption = Annotated[
    Device | None, typer.Option(help="Where to try the model; where the factory puts it.")
]
ServerOption = Annotated[
    str, typer.Option(envvar="SICKBAY_URL", help="Of the run's page.", show_default=False)
]
TokenOption = Annotated[
    str, typer.Option(envvar="SICKBAY_TOKEN", help="A token that may send events.")
]
RunOption = Annotated[
    str,
    typer.Option(help="Show the report on the page of this run: its key, the end of the address."),
]
AttemptOption = Annotated[int, typer.Option(help="Its attempt.", min=1)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def triage(
    factory: FactoryArgument,
    *,
    steps: StepsOption = 20,
    workers: WorkersOption = None,
    timeout: TimeoutOption = 120.0,
    device: DeviceOption = None,
    server: ServerOption = "",
    token: TokenOption = "",
    run: RunOption = "",
    attempt: AttemptOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Take a training job apart as an engineer would, and say where it breaks.

    A batch without workers, then with; what it holds; one forward pass, the
    loss, one backward pass; a few steps on one batch, with a known good loss
    and optimizer where the job's own get nowhere; mixed precision;
    torch.export. The first stage that fails ends it.

    The factory returns (data, model, criterion, optimizer): a Dataset or the
    job's DataLoader; a module; what is called with output and labels, or None
    where the output has the loss; the optimizer, made of the model's
    parameters. A mapping with these names does too, and may have collate_fn,
    batch_size, num_workers, scheduler, num_classes, validation and the other
    fields of sickbay.trainer.TriageJob.

    Ends with 0 if all stages passed, 1 if one failed, 2 if it is no job.
    """
    from sickbay.trainer.triage.outside import apart
    from sickbay.trainer.triage.running import Options

    if run and not server:
        raise BadInput("To send the report to a run, give its --server (or set SICKBAY_URL).")
    options = Options(steps, workers, timeout, device.value if device else None)
    report = apart(factory, options, None if as_json else _say_stage)
    if as_json:
        typer.echo(json.dumps(asdict(report), indent=2))
    else:
        _say(report)
    if run:
        _send(server, token, Opened(run, attempt), report, quiet=as_json)
    if report.outcome is Passed.FAILED:
        raise typer.Exit(1)


def _say_stage(stage: Stage) -> None:
    seconds = "" if stage.seconds is None else f"{stage.seconds:.1f} s"
    head = f"{_MARKS[stage.outcome]:<6} {stage.name:<{_NAME}}{seconds:>{_SECONDS}}  "
    room = _WIDTH - len(head)
    lines = textwrap.wrap(stage.message, room) or [""]
    typer.echo((head + lines[0]).rstrip())
    for line in lines[1:]:
        typer.echo(" " * len(head) + line)


def _say(report: Report) -> None:
    typer.echo("")
    if report.outcome is not Passed.FAILED:
        typer.echo(_wrapped(report.advice))
        return
    broken = next(one.name for one in report.stages if one.outcome is Passed.FAILED)
    where = ": ".join(one for one in (report.layer, report.category) if one)
    typer.echo(_wrapped(f"Failed at: {broken} ({where})."))
    typer.echo(_wrapped(report.advice))
    at = [one.name for one in report.stages].index(broken)
    if left := [one.name for one in report.stages[at + 1 :]]:
        typer.echo(_wrapped(f"Not reached: {', '.join(left)}."))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH)


def _send(server: str, token: str, opened: Opened, report: Report, *, quiet: bool) -> None:
    from sickbay.client.http import Pace
    from sickbay.trainer.blame.replaying import send
    from sickbay.trainer.line import Line

    send(Line(server, token or None, Pace(patience=60.0)), opened, 0, report)
    if not quiet:
        typer.echo(f"Sent to {server}.")
