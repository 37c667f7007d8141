"""A data set with every kind of broken file, scanned for real into a state folder."""

from pathlib import Path

from tests import pictures

from sickbay.blobs import Blobs
from sickbay.cli.local_sink import LocalSink
from sickbay.contract.policy import Policy
from sickbay.database.schema import open_database
from sickbay.scanner.engine import scan
from sickbay.scanner.task import Setup

NAME = "pets"
CANARY = '"><img src=x onerror=alert(1)>'
HOSTILE = f"train/cats/{CANARY}.jpg"
FORMULA = "train/cats/=1+1.jpg"
SOUND = tuple(f"train/cats/sound_{number}.jpg" for number in range(3))
CUT = tuple(f"train/dogs/cut_{number:02}.jpg" for number in range(65))
"""More than one page holds."""
UNSAFE = "train/cats/line\nbreak.jpg"
EMPTY, PAGE = "val/cats/empty.jpg", "val/cats/page.jpg"
LEAK = ("train/cats/leak.jpg", "val/cats/leak.jpg")
HELD = len(CUT) + len(LEAK) + len((HOSTILE, FORMULA, UNSAFE, EMPTY, PAGE))


def fill(root: Path) -> None:
    """Write the files."""
    for seed, path in enumerate(SOUND):
        pictures.write(root, path, pictures.jpeg(seed))
    for seed, path in enumerate((*CUT, HOSTILE, FORMULA)):
        pictures.write(root, path, pictures.truncated(pictures.jpeg(100 + seed)))
    pictures.write(root, UNSAFE, pictures.jpeg(60))
    for path in LEAK:
        pictures.write(root, path, pictures.jpeg(50))
    pictures.write(root, EMPTY, b"")
    pictures.write(root, PAGE, b"<!DOCTYPE html><title>429 Too Many Requests</title>")


def scan_into(
    state: Path,
    root: Path,
    policy: Policy | None = None,
    name: str = NAME,
    layout: str = "imagefolder",
) -> None:
    """Scan the folder into the state, as ``sickbay scan`` does."""
    database = open_database(state / "sickbay.db")
    sink = LocalSink(database, Blobs(state / "blobs"), root=root, by="tester", dataset=name)
    setup = Setup(policy=policy or Policy())
    scan(root, dataset=name, sink=sink, layout=layout, workers=1, setup=setup)
    database.close()
