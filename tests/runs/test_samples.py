"""Samples in training: which a step used, which are held for it, and where each was seen."""

import math
from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.quarantine.factories import a_record, decided, scanned, status_of
from tests.runs.sending import Trainer, failure

from sickbay.contract.blame import Batches, Outcome, Verdict
from sickbay.contract.blame import Sample as Used
from sickbay.contract.errors import NotFound
from sickbay.contract.event import FailureKind
from sickbay.contract.report import Change, Passed, Report, Stage
from sickbay.database import Database
from sickbay.quarantine import data_sets
from sickbay.quarantine.queue.sample import view
from sickbay.quarantine.tables import Action, Sample, Source, Status
from sickbay.runs.samples import find
from sqlalchemy import select

REF = "0123456789abcdef"


def test_placeholder() -> None:
    assert math.pi
