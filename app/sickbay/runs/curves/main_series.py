"""Which series of a run a list shows."""

_FIRST = ("train/loss", "train_loss", "training_loss", "loss/train", "loss")


def preference(name: str) -> tuple[int, str]:
    """Return a rank for a series' name: the training loss first, then any loss, then by name."""
    lower = name.lower()
    if lower in _FIRST:
        return _FIRST.index(lower), name
    if "loss" in lower:
        return len(_FIRST) + (0 if "train" in lower else 1), name
    return len(_FIRST) + 2, name
