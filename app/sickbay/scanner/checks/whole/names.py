"""Names and labels of all samples, on disk: only the few that a finding names are read back."""

import tempfile
import weakref
from array import array

from sickbay.contract.errors import StorageFailed
from sickbay.contract.paths import SamplePath


class Names:
    """An anonymous file that gives back what was noted n-th; eight bytes of memory a sample."""

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed below)
        except OSError as error:
            raise _failed(error) from None
        self._closing = weakref.finalize(self, self._file.close)  # also where a scan breaks off
        self._ends = array("q", [0])

    def note(self, raw: bytes, label: str) -> None:
        """Write the next sample's raw path and label.

        Raises:
            StorageFailed: the disk for temporary files is full.
        """
        frame = len(raw).to_bytes(4, "big") + raw + label.encode("utf-8", "surrogatepass")
        try:
            self._file.write(frame)
        except OSError as error:
            raise _failed(error) from None
        self._ends.append(self._ends[-1] + len(frame))

    def path(self, number: int) -> str:
        """Return the path of the sample noted ``number``-th, counted from 0."""
        return SamplePath(self._read(number)[0]).text

    def label(self, number: int) -> str:
        """Return the label of the sample noted ``number``-th, counted from 0."""
        return self._read(number)[1].decode("utf-8", "surrogatepass")

    def _read(self, number: int) -> tuple[bytes, bytes]:
        start, end = self._ends[number], self._ends[number + 1]
        try:
            self._file.seek(start)
            frame = self._file.read(end - start)
        except OSError as error:
            raise _failed(error) from None
        length = 4 + int.from_bytes(frame[:4], "big")
        return frame[4:length], frame[length:]

    def close(self) -> None:
        """Give the space back."""
        self._closing()


def _failed(error: OSError) -> StorageFailed:
    return StorageFailed(
        f"The folder for temporary files ({tempfile.gettempdir()!r}) cannot be used: "
        f"{error.strerror}; free some space or set TMPDIR."
    )
