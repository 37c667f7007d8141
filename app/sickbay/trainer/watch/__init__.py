"""Looks at loss, gradients and inputs of every step, and says which batch was not as the others."""

from sickbay.trainer.watch.anomaly import Anomaly, AnomalyFound

__all__ = ["Anomaly", "AnomalyFound"]
