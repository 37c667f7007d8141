"""Triage: takes a training job apart, stage by stage, and says where it breaks and what to do.

    from sickbay.trainer import TriageJob, triage

    report = triage(TriageJob(dataset, model, criterion, optimizer, batch_size=32))
    print(report.outcome, report.layer, report.category, report.advice)

The stages, in this order; the first that fails ends it:

1.  one batch           a batch in this process, without workers
2.  workers             the same samples with workers
3.  batch contents      shapes, types, finite values, labels, against a second batch
4.  train and validation  only where validation data are given: copies in both, values that differ
5.  forward             one pass: finite, and a last batch of one sample too
6.  loss                one number, finite, with a gradient
7.  backward            each parameter gets a gradient, and the optimizer has it
8.  a few steps         on one batch: the loss falls, else what is to blame
9.  mixed precision     loss and outputs against float32
10. export              ``torch.export``

Nothing of the caller's is changed: models, optimizers and schedules are copied, generators are
set back. Data are fetched as the job's loader fetches them.
"""

from typing import TYPE_CHECKING, Any

from sickbay.trainer.job import TriageJob

if TYPE_CHECKING:
    from sickbay.contract.report import Report

__all__ = ["TriageJob", "triage"]


def triage(job: Any, **options: Any) -> "Report":
    """Take a job apart, and hand the report to the current run if there is one.

    Args:
        job: a ``TriageJob``; or what it is made of as a mapping, or as a tuple
            ``(data, model, criterion, optimizer)``; or a function that returns one of these.
        **options: ``steps`` (of stage 8; 20), ``workers`` (of stage 2; the loader's own number,
            or two; 0 leaves the stage out), ``timeout`` (seconds a worker's batch may take; 120),
            ``device`` (``cpu`` or ``cuda``; the model's own).

    Returns:
        The report. Its ``layer`` and ``category`` are the taxonomy's, empty where all passed.

    Raises:
        BadInput: the job is none, or there is no torch here.
    """
    from sickbay.trainer.triage.running import Options, run  # noqa: PLC0415 (it needs torch)

    return run(job, Options(**options))
