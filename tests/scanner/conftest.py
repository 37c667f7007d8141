"""Examples decode pictures on whatever machine there is, so none has a deadline."""

from hypothesis import settings

settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
