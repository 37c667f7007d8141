"""A server that lies: everything in a release agrees with a manifest that was tampered with."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from sickbay.contract.manifest import FILES


def forge(
    release: Path,
    manifest: Callable[[list[bytes]], list[bytes]] = lambda lines: lines,
    sums: Callable[[bytes], bytes] = lambda listed: listed,
) -> str:
    """Change the manifest's lines, or the sums, mend every digest, and return the new id."""
    lines = manifest((release / "manifest.jsonl").read_bytes().splitlines(keepends=True))
    rows = [json.loads(line) for line in lines]
    listed = sums("".join(f"{row['sha256']}  {row['file_name']}\n" for row in rows).encode())
    (release / "manifest.jsonl").write_bytes(b"".join(lines))
    (release / "SHA256SUMS").write_bytes(listed)
    version = json.loads((release / "version.json").read_bytes())
    for entry in version["files"]:
        content = (release / entry["name"]).read_bytes()
        entry.update(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    version["dirHash"] = hashlib.sha256(listed).hexdigest()
    (release / "version.json").write_bytes(canonical(version))
    names = sorted(set(FILES) - {"METADATA-SHA256SUMS"})
    hashes = {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in names}
    (release / "METADATA-SHA256SUMS").write_text(
        "".join(f"{hashes[name]}  {name}\n" for name in names)
    )
    return hashes["version.json"]


def renamed(name: str) -> Callable[[list[bytes]], list[bytes]]:
    """Give the first row another name, with the id that belongs to it."""

    def change(lines: list[bytes]) -> list[bytes]:
        identity = hashlib.sha256(name.encode()).hexdigest()[:32]
        row = json.loads(lines[0]) | {"file_name": name, "id": identity}
        return [canonical(row), *lines[1:]]

    return change


def canonical(value: dict[str, object]) -> bytes:
    """Write an object as a release's files do."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"
