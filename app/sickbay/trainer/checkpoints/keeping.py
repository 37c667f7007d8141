"""Checkpoints that are there when they are needed: whole, few, and from before it went wrong."""

import importlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sickbay.contract.errors import BadInput
from sickbay.contract.event import FailureKind
from sickbay.trainer import complaints, random_states, surroundings, whole_files
from sickbay.trainer.checkpoints.before import Before
from sickbay.trainer.checkpoints.content import (
    Parts,
    all_finite,
    restore_random,
    with_buffers,
)
from sickbay.trainer.checkpoints.files import (
    Note,
    described,
    entry_of,
    in_a_line,
    launch_mark,
    name_of,
    put_together,
    read,
)
from sickbay.trainer.checkpoints.folder import (
    ANOMALY,
    STEP,
    Entry,
    Folder,
    Keep,
    finite,
)
from sickbay.trainer.complaints import harmless
from sickbay.trainer.watch.anomaly import Anomaly

_NOWHERE: Path | None = None
CALM = 50
"""Steps without an anomaly before a checkpoint counts as good again."""
_BEFORE_HARM = (
    FailureKind.NON_FINITE_INPUT,
    FailureKind.NON_FINITE_LABEL,
    FailureKind.NON_FINITE_LOSS,
    FailureKind.NON_FINITE_GRADIENT,
)
"""Of these, finite weights from before the step are sound; a spike may come from the weights."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint that was put back.

    Attributes:
        step: the step to go on with.
        content: all of it, with ``step``, ``epoch``, ``state`` and what was saved as ``extra``.
    """

    path: Path
    step: int
    epoch: int | None = None
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Checkpoints:
    """Keeps a few checkpoints of a training in a folder.

        checkpoints = sickbay.Checkpoints("kept", model=model, optimizer=optimizer, watch=watch)
        watch.on_anomaly.append(checkpoints)
        start = found.step if (found := checkpoints.load()) else 0
        …
        checkpoints.save(step + 1, metric=validation_loss)

    Of all ranks the first one writes; the folder is one that all of them see.

    Args:
        folder: where they are; made where it is missing.
        model: what is saved, and restored by ``load``; the others as well.
        watch: its state is saved too, and says which step is going on.
        more: other things with ``state_dict`` and ``load_state_dict``, such as a ``GradScaler``.
        keep_last: the newest that stay.
        keep_best: those with the best metric that stay.
        keep_anomalies: those saved at anomalies that stay. The last good one always stays.
        highest: whether a higher metric is better.
        calm: steps after an anomaly for which no checkpoint counts as good.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        model: Any = None,
        optimizer: Any = None,
        scheduler: Any = None,
        watch: Any = None,
        more: Mapping[str, Any] | None = None,
        keep_last: int = 3,
        keep_best: int = 1,
        keep_anomalies: int = 2,
        highest: bool = False,
        calm: int = CALM,
    ) -> None:
        self._parts = Parts(model, optimizer, scheduler, watch, more or {})
        keep = Keep(max(1, keep_last), max(0, keep_best), max(1, keep_anomalies), highest)
        self._folder = Folder(Path(folder).absolute(), keep, described)
        self._calm = calm
        self._uneasy: int | None = None
        self._at: Path | None = None
        self._before = None if model is None else Before(model, self._going_on)
        self._writes = model is not None and surroundings.read().rank.rank == 0
        if self._writes:
            _make(self._folder)

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self._folder.path

    @harmless(_NOWHERE)
    def save(
        self,
        step: int,
        *,
        epoch: int | None = None,
        metric: Any = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Path | None:
        """Save a checkpoint between two steps.

        Args:
            step: the step to go on with.
            epoch: the epoch to go on with.
            metric: what the best are chosen by, such as the validation's loss.
            extra: other plain values and tensors.

        Returns:
            Its file; nothing on other ranks than the first, or where it could not be written,
            which is said through ``logging``.
        """
        if not self._writes:
            return None
        calm = self._uneasy is None or not 0 <= step - self._uneasy <= self._calm
        number = self._folder.next_number()
        path = self._folder.path / name_of(STEP, step, f"{number:06d}")
        state = self._parts.state()
        content = put_together(step, epoch, random_states.take(), state, extra)
        note = Note(STEP, calm and all_finite(state), number, finite(metric))
        return path if self._write(path, content, note) else None

    def newest_good(self) -> Path | None:
        """Return the newest checkpoint that is good and whole; torn files are passed over."""
        entry = self._newest_good()
        return None if entry is None else self._folder.path / entry.name

    def load(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        device: Any = "cpu",
        random: bool = True,
    ) -> Loaded | None:
        """Put a checkpoint back into model, optimizer and the others.

        Args:
            path: which; the newest good one where it is not said.
            device: where its tensors are read to at first.
            random: whether to draw random numbers on from there, too.

        Returns:
            What was loaded; nothing where there is no good checkpoint yet.

        Raises:
            NotFound: there is no such file.
            BadInput: it is no checkpoint, or one of another model.
        """
        chosen = self.newest_good() if path is None else Path(path)
        if chosen is None:
            return None
        content = read(chosen, device)
        try:
            self._parts.restore(content)
        except (RuntimeError, ValueError, KeyError) as error:
            raise BadInput(
                f"{chosen} is of another model or optimizer: {in_a_line(error)}"
            ) from None
        if random:
            restore_random(content)
        return Loaded(chosen, content["step"], content.get("epoch"), content)

    def __call__(self, anomaly: Anomaly) -> None:
        """Save at an anomaly: what ``watch.on_anomaly`` calls."""
        self.at(anomaly)

    def evidence(self, anomaly: Anomaly) -> dict[str, Any]:
        """Return the field that a failure gets from here: the checkpoint's file."""
        path = self.at(anomaly)
        return {"checkpoint": str(path)} if path else {}

    @harmless(_NOWHERE)
    def at(self, anomaly: Anomaly) -> Path | None:
        """Save the state before the step of an anomaly, or return the file where that was done.

        Of anomalies in a row the first is saved: the later ones have its harm in them already.
        """
        now = self._going_on()
        step = anomaly.step if now is None else now
        last, self._uneasy = self._uneasy, step
        if self._at is not None and last is not None and 0 <= step - last <= self._calm:
            return self._at
        self._at = self._folder.path / name_of(ANOMALY, step, launch_mark())
        if self._writes and not self._save_at(self._at, anomaly, step):
            self._at = None
        return self._at

    def _save_at(self, path: Path, anomaly: Anomaly, step: int) -> bool:
        """Save with buffers and random states as they were before the forward pass."""
        state = self._parts.state()
        random: Mapping[str, Any] = random_states.take()
        before = self._before
        if before is not None and before.random is not None:
            random = before.random
            state["model"] = with_buffers(state["model"], before.buffers)
        exact = before is not None and before.step == anomaly.step == step
        sound = exact and anomaly.kind in _BEFORE_HARM and all_finite(state)
        extra = {"anomaly": anomaly.ref, "kind": anomaly.kind.value, "anomaly step": anomaly.step}
        content = put_together(step, None, random, state, extra)
        return self._write(path, content, Note(ANOMALY, sound, self._folder.next_number()))

    def _write(self, path: Path, content: Mapping[str, Any], note: Note) -> bool:
        torch: Any = importlib.import_module("torch")
        whole = {**content, "note": asdict(note)}
        try:
            written = whole_files.write(path, lambda file: torch.save(whole, file))
            self._folder.add(entry_of(path, written, content, note))
        except OSError as error:
            complaints.log.warning("%s is not saved: %s", path, error.strerror or error)
            return False
        return True

    def _newest_good(self) -> Entry | None:
        good = (entry for entry in reversed(self._folder.entries()) if entry.good)
        return next((entry for entry in good if self._folder.whole(entry)), None)

    def _going_on(self) -> int | None:
        found = getattr(self._parts.watch, "now", None)
        return found if isinstance(found, int) else None


def _make(folder: Folder) -> None:
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        complaints.log.warning("%s cannot be made: %s", folder.path, error.strerror)
    with suppress(OSError):
        folder.clear_up()
