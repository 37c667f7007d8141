"""Which reader a file of arrays needs, by its content as its loader sees it."""

from sickbay.scanner.arrays import (
    UNLOADABLE,
    Fault,
    Reader,
    archive,
    npy,
    npz,
    safetensors,
    torch_file,
)

SUFFIXES = {
    ".npy": "NPY",
    ".npz": "NPZ",
    ".pt": "PT",
    ".pth": "PT",
    ".safetensors": "SAFETENSORS",
}
"""Format by the extension of a name."""
HEAD_BYTES = 32
_ZIPS = (archive.START, archive.EMPTY)
_PICKLE = b"\x80"  # the first byte of every pickle since protocol 2
_NOT = {
    "NPY": "It does not begin as a NumPy array does.",
    "PT": "It is neither an archive nor a pickle of torch.save.",
}


def reader(suffix: str, head: bytes) -> tuple[str, Reader]:
    """Return the format of a file that is not empty, and what reads it.

    Raises:
        Fault: it is of no format that its name allows.
    """
    named = SUFFIXES[suffix]
    if named == "SAFETENSORS":
        return named, safetensors.read
    if named == "PT":
        if head.startswith(_ZIPS):
            return named, torch_file.read
        if head.startswith(_PICKLE):
            return named, torch_file.read_old
        raise Fault(UNLOADABLE, _NOT[named])
    if head.startswith(_ZIPS):  # numpy.load goes by content
        return "NPZ", npz.read
    if head.startswith(npy.MAGIC[: len(head)]):
        return "NPY", npy.read
    if head.startswith(_PICKLE):
        raise Fault(UNLOADABLE, "It is a pickle, which runs code when loaded.")
    raise Fault(UNLOADABLE, "It is no NumPy file.")
