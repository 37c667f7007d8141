"""One seed for every generator that a training draws from."""

import importlib
import os
import random
import secrets
import sys
from contextlib import suppress
from typing import Any

from sickbay.contract.errors import BadInput

_MOST = (1 << 32) - 1
_known: dict[str, int] = {}


def seed_everything(seed: int | None = None, *, deterministic: bool = False) -> int:
    """Seed ``random``, numpy and torch (all its devices), where they are installed.

    A DataLoader's workers draw their own seeds from torch's; Python started later gets
    ``PYTHONHASHSEED``.

    Args:
        seed: from 0 to 2^32 - 1; one is drawn where it is not said.
        deterministic: also ask torch for deterministic algorithms, which may be slower and
            refuse some operations.

    Returns:
        The seed.

    Raises:
        BadInput: it is no such number. A wrong seed is worth stopping for, before the training.
    """
    seed = secrets.randbelow(_MOST + 1) if seed is None else seed
    if type(seed) is not int or not 0 <= seed <= _MOST:
        raise BadInput(f"A seed is a whole number from 0 to {_MOST}.")
    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(seed)
    with suppress(ImportError):
        importlib.import_module("numpy").random.seed(seed)
    with suppress(ImportError):
        _seed_torch(importlib.import_module("torch"), seed, deterministic=deterministic)
    _known.update(everything=seed, deterministic=int(deterministic))
    return seed


def known_seeds() -> dict[str, int]:
    """Return what ``seed_everything`` was last told, and torch's own seed where it is loaded."""
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        if torch is not None:
            return {**_known, "torch": torch.initial_seed()}
    return dict(_known)


def _seed_torch(torch: Any, seed: int, *, deterministic: bool) -> None:
    torch.manual_seed(seed)
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(mode=True)
        torch.backends.cudnn.benchmark = False
