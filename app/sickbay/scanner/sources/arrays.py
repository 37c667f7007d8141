"""Arrays: each file of them is a sample, in folders as pictures are."""

from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.arrays.readers import SUFFIXES
from sickbay.scanner.sources.folders import InFolders
from sickbay.scanner.sources.glimpse import Glimpse
from sickbay.scanner.trees import Entry, Tree

NAME = "arrays"
SUMMARY = "files of arrays (.npy, .npz, .pt, .pth, .safetensors), with or without folders as above"
NO_ARRAY = "not a file of arrays by name"


def recognise(glimpse: Glimpse) -> str | None:
    """Say why a folder looks like one of arrays: most of its files are named so."""
    files = glimpse.files()
    suffixes = sorted({suffix for raw in files if (suffix := SamplePath(raw).suffix) in SUFFIXES})
    count = sum(SamplePath(raw).suffix in SUFFIXES for raw in files)
    return (
        f"most of its files are arrays ({', '.join(suffixes)})" if 2 * count > len(files) else None
    )


def read(tree: Tree, _policy: Policy) -> InFolders:
    """Read the arrays below a root."""
    return InFolders(tree, "array", _refusal)


def _refusal(entry: Entry) -> str | None:
    return None if SamplePath(entry.raw).suffix in SUFFIXES else NO_ARRAY
