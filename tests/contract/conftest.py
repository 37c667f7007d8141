"""Drawn examples may take their time: a busy machine is no fault of the contract."""

from hypothesis import settings

settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
