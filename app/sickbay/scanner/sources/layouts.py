"""Which layouts there are."""

from collections.abc import Mapping
from types import ModuleType

from sickbay.contract.errors import BadInput
from sickbay.scanner.sources import arrays, coco, imagefolder, jsonl, masks, table, text, voc, yolo

LAYOUTS: Mapping[str, ModuleType] = {
    module.NAME: module
    for module in (imagefolder, masks, coco, yolo, voc, arrays, table, jsonl, text)
}


def layout(name: str) -> ModuleType:
    """Return the module of a layout.

    Raises:
        BadInput: there is no layout of that name.
    """
    if name not in LAYOUTS:
        raise BadInput(f"There is no layout {name!r}; give one of: {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]
