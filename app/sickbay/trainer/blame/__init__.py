"""Which sample is to blame? A bad step is repeated on a copy, and the verdict told to the run."""

from sickbay.trainer.blame.blaming import Blame

__all__ = ["Blame"]
