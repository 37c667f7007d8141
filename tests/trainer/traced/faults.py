"""Data sets of real files in which one sample does what it should not; workers import them."""

import math
import os
import signal
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset

from sickbay.trainer.traced import fetching

Pair = namedtuple("Pair", "picture label")  # noqa: PYI024 (what scripts have)
BAD = 5


def write_texts(folder: Path, count: int = 12, bad: int = BAD) -> None:
    """Write texts, of which one is no UTF-8."""
    for index in range(count):
        content = b"caf\xe9 \xff" if index == bad else f"text {index}".encode()
        (folder / f"{index:02}.txt").write_bytes(content)


class Several(Exception):
    """Cannot be made from one text."""

    def __init__(self, code: int, *, where: str) -> None:
        super().__init__(f"{code} at {where}")


class Mute(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise TypeError("no text")


class Key(KeyError):
    """Shows its text in quotes, in one line."""


LABELS = {"range": 9, "none": None, "nan": math.nan}
RAISED: dict[str, Exception] = {
    "several": Several(3, where="here"),
    "mute": Mute("said"),
    "key": Key("no\nsuch"),
    "group": ExceptionGroup("both", [ValueError("1"), KeyError("2")]),
    "memory": MemoryError("no room"),
    "reset": ConnectionResetError(104, "reset by peer"),
    "stop": StopIteration("over"),
    "deep": RecursionError("too deep"),
}


class Texts(Dataset[Any]):
    """Reads texts; ``fault`` is what happens at the bad one instead of its broken encoding."""

    def __init__(self, folder: Path, fault: str = "decode") -> None:
        self.files = sorted(str(path) for path in folder.glob("*.txt"))
        self.fault = fault

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        if index == BAD and self.fault != "decode":
            return self._odd()
        path = self.files[index]
        length = len(Path(path).read_text(encoding="utf-8"))
        return torch.full((3,), float(length)), index % 2

    def _odd(self) -> Any:
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "hang":
            time.sleep(600)
        if self.fault == "late shape":
            return torch.zeros(5), 1
        if self.fault in LABELS:
            return torch.zeros(3), LABELS[self.fault]
        if self.fault == "exit":
            os._exit(1)
        raise RAISED.get(self.fault, ValueError(self.fault))


class Stream(IterableDataset[Any]):
    """The same texts one after the other, each worker its share; says which it reads."""

    def __init__(self, folder: Path, fault: str = "decode", *, says: bool = True) -> None:
        super().__init__()
        self.inner = Texts(folder, fault)
        self.says = says

    def __iter__(self) -> Iterator[Any]:
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for index in range(first, len(self.inner), step):
            path = self.inner.files[index]
            if self.says:
                fetching(path)
            yield self.inner[index]


class Resumed(Stream):
    """A stream that goes on after an exception."""

    def __iter__(self) -> Iterator[Any]:
        return _Items(self.inner)


class _Items:
    def __init__(self, inner: Texts) -> None:
        self.inner = inner
        self.next = 0

    def __iter__(self) -> "_Items":
        return self

    def __next__(self) -> Any:
        if self.next >= len(self.inner):
            raise StopIteration
        self.next += 1
        fetching(self.inner.files[self.next - 1])
        return self.inner[self.next - 1]


class Many(Texts):
    """Fetches a whole batch at once."""

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]


def named(items: list[Any]) -> Pair:
    """Put a batch into a named tuple."""
    return Pair(torch.stack([x for x, _ in items]), torch.tensor([y for _, y in items]))


def keyed(items: list[Any]) -> dict[str, Any]:
    """Put a batch into a mapping."""
    return {"x": torch.stack([x for x, _ in items]), "label": [y for _, y in items]}


def one_tensor(items: list[Any]) -> Any:
    """Put a batch into one tensor."""
    return torch.stack([x for x, _ in items])


def words(items: list[Any]) -> list[str]:
    """Put a batch into a list of words, in which there is no tensor."""
    return [str(y) for _, y in items]


def pair(items: list[Any]) -> tuple[Any, Any]:
    """Put a batch into a tuple."""
    return torch.stack([x for x, _ in items]), torch.tensor([y for _, y in items])
