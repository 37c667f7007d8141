"""Where templates, static files and migrations lie.

In a wheel they are beside the package's modules; in a checkout they are at the top of the
repository, two levels up. Nowhere else is looked at.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """Return the folder ``templates``, ``static`` or ``migrations``.

    Raises:
        FileNotFoundError: the installation lacks it.
    """
    for base in (_PACKAGE, _PACKAGE.parents[1]):
        if (base / name).is_dir():
            return base / name
    raise FileNotFoundError(
        f"This installation of Sickbay lacks its {name} folder; install it again."
    )
