"""The README's own examples, so that tests run what readers copy."""

import re
from pathlib import Path

_README = Path(__file__).parents[1] / "README.md"


def example(name: str) -> str:
    """Return the code block under the comment ``<!-- name -->``."""
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", _README.read_text("utf-8"), re.DOTALL)
    assert found is not None, f"README.md has no example {name!r}"
    return found[1]
