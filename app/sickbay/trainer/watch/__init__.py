"""Looks at loss, gradients and inputs of every step, and says which batch was not as the others."""

from sickbay.trainer.watch.anomaly import Anomaly, AnomalyFound
from sickbay.trainer.watch.rules import Thresholds
from sickbay.trainer.watch.watching import Watch

__all__ = ["Anomaly", "AnomalyFound", "Thresholds", "Watch"]
