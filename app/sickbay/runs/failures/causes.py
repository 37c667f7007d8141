"""Root causes and what only follows from them.

When one process of a job fails, the others fail soon after, for want of it: collectives time
out, workers of the loader are gone, the launcher reports its child; or a watch stops them with
it. Such failures say nothing of the cause; they belong to the group of the failure that set
them off.
"""

import re
from datetime import timedelta

from sickbay.contract.event import Failure

FOLLOWS_WITHIN = timedelta(minutes=30)
"""How long after a root cause its consequences may come: NCCL's own time-out is 10 minutes,
gloo's 30."""

_TYPES = frozenset(
    {
        "ChildFailedError",
        "DistBackendError",
        "DistNetworkError",
        "SignalException",
        "BrokenPipeError",
    }
)
_TEXTS = re.compile(
    r"NCCL (communicator|error|operation|WARN)|ncclRemoteError|ncclSystemError"
    r"|ProcessGroupNCCL|Watchdog caught collective|collective operation timeout"
    r"|Connection closed by peer|Connection reset by peer|Socket Timeout"
    r"|\[gloo/|gloo::|Gloo connectFullMesh|Timed out waiting \d+ms for (recv|send)"
    r"|DataLoader worker \(pid\(?s?\)?:? ?[\d, ]+\) exited unexpectedly"
    r"|TCPStore|rendezvous|RendezvousClosedError"
    r"|Signal (9|15) \(SIG(KILL|TERM)\) received by PID|Received \d+ death signal",
    re.IGNORECASE,
)
_STOPPED_WITH = re.compile(r" on rank \d+\.$")
"""How the kit ends what it says on a rank that only stops because another one found something."""
_TEXT_READ = 2000
"""Characters of a message that are searched."""


def is_secondary(failure: Failure) -> bool:
    """Whether a failure is known to follow from another process's."""
    kind = failure.exception_type.rpartition(".")[2]
    text = failure.message[:_TEXT_READ]
    if kind == "AnomalyFound":
        return _STOPPED_WITH.search(text) is not None
    return kind in _TYPES or _TEXTS.search(text) is not None
