"""Sickbay finds the samples that would break or poison a training run."""

from importlib.metadata import version

__version__ = version("sickbay")
