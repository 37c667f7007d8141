"""Which layouts there are."""

from collections.abc import Mapping
from types import ModuleType

from sickbay.contract.errors import BadInput
from sickbay.contract.policy import Policy
from sickbay.scanner.sources import (
    Source,
    arrays,
    coco,
    imagefolder,
    jsonl,
    masks,
    table,
    text,
    voc,
    yolo,
)
from sickbay.scanner.table_options import TableOptions
from sickbay.scanner.trees import Tree

LAYOUTS: Mapping[str, ModuleType] = {
    module.NAME: module
    for module in (imagefolder, masks, coco, yolo, voc, arrays, table, jsonl, text)
}
_OF_TABLES = (table, jsonl, text)


def layout(name: str) -> ModuleType:
    """Return the module of a layout.

    Raises:
        BadInput: there is no layout of that name.
    """
    if name not in LAYOUTS:
        raise BadInput(f"There is no layout {name!r}; give one of: {', '.join(LAYOUTS)}.")
    return LAYOUTS[name]


def source(name: str, tree: Tree, policy: Policy, tables: TableOptions | None = None) -> Source:
    """Read a data set of a layout.

    Args:
        name: of the layout.
        tree: the data set.
        policy: what its owner wants found.
        tables: what a person said of its tables.

    Raises:
        BadInput: there is no layout of that name, or it has no tables.
    """
    module = layout(name)
    if tables is None:
        read: Source = module.read(tree, policy)
    elif module in _OF_TABLES:
        read = module.read(tree, policy, tables)
    else:
        raise BadInput(
            f"The layout {name} has no columns to name; those options are of "
            f"{', '.join(one.NAME for one in _OF_TABLES)}."
        )
    return read
