"""The files of a task, below a folder of this machine or sent along by whoever fetched them."""

import io
import os
from collections.abc import Mapping
from typing import BinaryIO

from sickbay.contract.finding import Finding
from sickbay.contract.inside import Inside, Missing, Unreadable
from sickbay.scanner.checks import files
from sickbay.scanner.evidence import Examined
from sickbay.scanner.limits import Limits


class FilesBelow:
    """Files below a folder that is held open."""

    def __init__(self, folder: Inside, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits

    def read(self, raw: bytes) -> tuple[Examined, bytes | None]:
        """Read a file once."""
        return files.read(self._folder, raw, self._limits)

    def open(self, raw: bytes) -> BinaryIO:
        """Open a file below the folder."""
        return os.fdopen(self._folder.open(raw), "rb")


class FilesGiven:
    """Files whose bytes came with the request."""

    def __init__(
        self,
        contents: Mapping[bytes, bytes],
        faults: Mapping[bytes, tuple[Finding, ...]] | None = None,
    ) -> None:
        self._contents = contents
        self._faults = faults or {}

    def read(self, raw: bytes) -> tuple[Examined, bytes | None]:
        """Return a file's bytes, or that it is missing."""
        data = self._contents.get(raw)
        if raw in self._faults:
            return Examined(findings=self._faults[raw]), None
        if data is None:
            return files.fault(Missing("Nothing lies at this path.")), None
        return Examined(size=len(data)), data

    def open(self, raw: bytes) -> BinaryIO:
        """Return a file's bytes as a file."""
        if raw in self._faults:
            raise Unreadable(self._faults[raw][0].message)
        if raw not in self._contents:
            raise Missing("Nothing lies at this path.")
        return io.BytesIO(self._contents[raw])
