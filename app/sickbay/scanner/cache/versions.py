"""What decides, besides a sample itself, what its check finds."""

import hashlib
import json
import sys
from functools import cache
from importlib import metadata

from sickbay.scanner.task import Setup

CHECKS_VERSION = 2
"""Raised whenever a check of single samples finds something else than before."""
_DECIDING = (
    "sickbay",
    "pillow",
    "simplejpeg",
    "numpy",
    "pillow-heif",
    "ftfy",
    "charset-normalizer",
    "pycocotools",
    "tokenizers",
    "torch",
    "safetensors",
)


@cache
def versions() -> tuple[str, ...]:
    """Versions of everything that looks into samples, as far as it is installed."""
    python = f"python {sys.version_info[0]}.{sys.version_info[1]}"
    return (f"checks {CHECKS_VERSION}", python, *map(_version, _DECIDING))


def _version(name: str) -> str:
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name} absent"


def setup_digest(setup: Setup, *, classes: bool) -> bytes:
    """Digest of how samples are checked, with or without the names of the classes.

    Where the tokenizer's file lies decides nothing; its hash is part of the policy.
    """
    value = {**setup.to_json(), "tokenizer": None, "versions": versions()}
    if not classes:
        value["classes"] = None
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=32).digest()
