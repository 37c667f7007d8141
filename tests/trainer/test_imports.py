"""The kit on a GPU box: nothing else of ours, and no package but perhaps torch."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.trainer.ward import Ward

_BLOCKED = """
import sys

class Block:
    allowed = set(sys.stdlib_module_names) | {"sickbay"}
    ours = ("sickbay.trainer", "sickbay.client", "sickbay.contract")

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.allowed:
            raise ImportError(f"blocked: {name}")
        if name.startswith("sickbay.") and not name.startswith(self.ours):
            raise ImportError(f"blocked: {name}")

sys.meta_path.insert(0, Block())
import sickbay.trainer.replay
import sickbay.trainer.tensorboard
import sickbay.trainer as sickbay

sickbay.seed_everything(3)
with sickbay.init("blocked") as run:
    run.log({"loss": 1.0}, step=1)
    run.failure("loss-spike", value=3.0)
loaded = {name for name in sys.modules if name.partition(".")[0] not in Block.allowed}
odd = {name for name in loaded if not name.startswith(("_", "sitecustomize", "usercustomize"))}
assert not odd - set(sys.argv[1].split(",")), odd
"""


def test_the_kit_needs_the_standard_library_only(kit: Path) -> None:
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print(','.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    done = subprocess.run(
        [sys.executable, "-c", _BLOCKED, before.stdout.strip()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "did nothing" not in done.stderr
    assert list(kit.glob("*/*.spool"))


def test_the_kit_imports_no_torch_by_itself(kit: Path) -> None:
    script = (
        "import sys, sickbay.trainer as s; r = s.init('x'); r.log({'a': 1}); r.finish(); "
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert list(kit.iterdir())


_IMPORTS_NOTHING = """
import builtins, sys, threading
import sickbay.trainer as sickbay

real, late = builtins.__import__, []

def watched(name, *args, **kwargs):
    had = set(sys.modules)
    module = real(name, *args, **kwargs)
    if threading.current_thread() is not threading.main_thread():
        late.extend(set(sys.modules) - had)
    return module

builtins.__import__ = watched
for name in ("one", "two"):
    with sickbay.init(name, config={"lr": 0.1}) as run:
        run.log({"loss": 1.0}, step=1)
        run.seen(1, ["a.jpg"], [0.5])
        run.alert("a title")
        run.failure(exception=ValueError("odd"), samples=["a.jpg"])
assert not late, late
"""


@pytest.mark.parametrize("mood", ["well", "500"])
def test_the_kit_s_threads_import_nothing_for_a_fork_would_keep_the_lock(
    online: Ward, mood: str
) -> None:
    online.mood = mood
    subprocess.run([sys.executable, "-c", _IMPORTS_NOTHING], check=True, timeout=60)
