"""The demonstration's training run: real curves, a spike, a NaN and two failures.

    python -m sickbay.demo.training ROOT [--steps N] [--pause SECONDS]

Softmax regression on tiny versions of the demo's own pictures. What goes wrong is put in on
purpose: a picture that does not decode, a batch with another batch's labels, a batch with a
NaN. Where to report to is read from the environment, as in any training script.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

import sickbay.trainer as sickbay
from sickbay.demo.scenes import SCENES

RUN = "scenes-softmax"
BATCH = 24
SIDE = 24
"""Pixels of the small pictures that are trained on."""
SPIKE_AT, NAN_AT = 0.45, 0.7
"""Shares of the run after which the loss leaps once, and is not a number once."""
_RATE = 0.01

Array = npt.NDArray[np.float64]
Batch = tuple[Array, npt.NDArray[np.intp], list[str]]


class Softmax:
    """One linear layer and cross-entropy: enough to learn the scenes' colours."""

    def __init__(self, features: int, classes: int) -> None:
        self.weights = np.zeros((features, classes))

    def step(self, inputs: Array, labels: npt.NDArray[np.intp], rate: float) -> tuple[Array, float]:
        """Take one step of gradient descent, unless the loss is not finite.

        Args:
            inputs: shape (batch, features).
            labels: shape (batch,), class indices.
            rate: the learning rate.

        Returns:
            The loss of each sample before the step, shape (batch,), and the norm of the gradient.
        """
        chances = _softmax(inputs @ self.weights)
        losses: Array = -np.log(chances[np.arange(len(labels)), labels] + 1e-12)
        gradient = inputs.T @ (chances - np.eye(chances.shape[1])[labels]) / len(labels)
        if np.isfinite(losses).all():
            self.weights -= rate * gradient
        return losses, float(np.linalg.norm(gradient))


def train(root: Path, steps: int, pause: float) -> None:
    """Train for so many steps, waiting ``pause`` seconds after each."""
    config = {"batch": BATCH, "learning_rate": _RATE, "side": SIDE, "steps": steps}
    with sickbay.init(RUN, dataset="demo", root=root, config=config) as run:
        sickbay.seed_everything(0)
        batches = _batches(root, run)
        model = Softmax(SIDE * SIDE * 3 + 1, len(SCENES))
        for step in range(1, steps + 1):
            inputs, labels, paths = next(batches)
            if step == round(steps * SPIKE_AT):
                labels = (labels + 1) % len(SCENES)
            if step == round(steps * NAN_AT):
                inputs[0, 0] = np.nan
            losses, norm = model.step(inputs, labels, _RATE)
            loss = float(losses.mean())
            run.seen(step, paths, losses)
            run.log({"train/loss": loss, "train/gradient": norm}, step=step)
            if step == round(steps * SPIKE_AT):
                run.alert("The loss leapt", f"{loss:.3f} at step {step}.")
            if not np.isfinite(loss):
                run.failure("non-finite-loss", step=step, samples=paths, value=loss,
                            message="The loss is not a number.", gradient_norm=norm)  # fmt: skip
            time.sleep(pause)


def _softmax(scores: Array) -> Array:
    raised: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Array = raised / raised.sum(axis=1, keepdims=True)
    return chances


def _batches(root: Path, run: sickbay.Run) -> Iterator[Batch]:
    """Yield shuffled batches without end; a picture that raises is told of once, and left out."""
    inputs, labels, paths = _loaded(root, run)
    random = np.random.default_rng(0)
    while True:
        order = random.permutation(len(paths))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield inputs[chosen], labels[chosen], [paths[index] for index in chosen]


def _loaded(root: Path, run: sickbay.Run) -> tuple[Array, npt.NDArray[np.intp], list[str]]:
    inputs, labels, paths, told = [], [], [], False
    for label, scene in enumerate(SCENES):
        for path in sorted((root / "train" / scene).glob("*.jpg")):
            try:
                inputs.append(_features(path))
            except (OSError, Image.DecompressionBombError) as error:
                if not told:
                    run.failure("loader-error", exception=error, step=0, samples=[str(path)])
                told = True
                continue
            labels.append(label)
            paths.append(str(path))
    return np.stack(inputs), np.asarray(labels), paths


def _features(path: Path) -> Array:
    """Return the picture as one row: its small version, zero mean, and a constant."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    row: Array = np.append(np.asarray(small, np.float64).ravel() / 255 - 0.5, 1.0)
    return row


def main() -> None:
    """Read the command line and train."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("root", type=Path, help="the demo's data set")
    given.add_argument("--steps", type=int, default=240)
    given.add_argument("--pause", type=float, default=0.0, help="seconds after each step")
    chosen = given.parse_args()
    train(chosen.root, chosen.steps, chosen.pause)


if __name__ == "__main__":
    main()
