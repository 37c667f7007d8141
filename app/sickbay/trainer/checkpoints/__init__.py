"""Checkpoints of a training: atomic, bounded, with the last good one always kept."""

from sickbay.trainer.checkpoints.keeping import Checkpoints, Loaded

__all__ = ["Checkpoints", "Loaded"]
