"""The loader check: a whole data set through a job's own ``Dataset`` and transforms.

A picture that opens may still fail there. ``check`` starts the traversal in a process of its own,
so that a sample that kills it or hangs costs only itself.
"""

from sickbay.trainer.loading.checking import Checked, Options, check

__all__ = ["Checked", "Options", "check"]
