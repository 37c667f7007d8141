"""A job's own module, as the loader check imports it; written into a folder by the tests."""

from pathlib import Path

JOB = """
import math, os, signal, time
from pathlib import Path
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

ROOT = Path(os.environ["JOB_ROOT"])

class Texts(Dataset):
    def __init__(self):
        self.files = sorted(str(path) for path in ROOT.rglob("*.txt"))
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        path = self.files[index]
        text = Path(path).read_text(encoding="utf-8")
        print("the job prints", path)
        if text == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "hang":
            time.sleep(600)
        if text == "worker" and torch.utils.data.get_worker_info():
            raise PermissionError("only in a worker")
        if text == "raise":
            raise KeyError("no box")
        value = math.nan if text == "nan" else float(len(text))
        label = 9 if text == "label" else 1
        return torch.full((4 if text == "shape" else 3,), value), label

class Stream(IterableDataset):
    def __iter__(self):
        inner = Texts()
        for index, path in enumerate(inner.files):
            yield {"path": path, "x": inner[index][0]}

def dataset():
    return Texts()

def loader():
    return DataLoader(Texts(), batch_size=3, num_workers=2)

def padded(items):
    size = max(len(x) for x, _ in items)
    return torch.stack([torch.nn.functional.pad(x, (0, size - len(x))) for x, _ in items])

def pair():
    return Texts(), padded

def whole():
    model = torch.nn.Linear(3, 2)
    return Texts(), model, torch.nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1)

def named():
    return {"data": Texts(), "model": torch.nn.Linear(3, 2), "collate_fn": padded}

def stream():
    return Stream()

def broken():
    raise RuntimeError("no such disk")
"""


def write(folder: Path, texts: dict[str, str | bytes]) -> Path:
    """Write the job's module and its texts; return the texts' folder."""
    (folder / "a_training_job.py").write_text(JOB)
    root = folder / "texts"
    root.mkdir()
    for name, text in texts.items():
        path = root / f"{name}.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root
