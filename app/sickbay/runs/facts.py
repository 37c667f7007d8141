"""Facts of an attempt: what its processes say one after another, within bounds."""

import json
from collections.abc import Mapping
from typing import Any

from sickbay.contract.event import MAX_FACTS

MOST = 4 * MAX_FACTS
"""Bytes of one kind of facts as JSON: a page shows all of them."""
LEFT_OUT = "(left out)"


def completed(known: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with others added; where that is too much, with a remark instead."""
    both = {**known, **more}
    if len(json.dumps(both)) <= MOST:
        return both
    return {**known, LEFT_OUT: f"what came later: all together hold at most {MOST:,} bytes"}
