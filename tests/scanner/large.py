"""Annotation files of any size, made of one piece many times over."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Large:
    """An annotation file of many equal pieces, by a layout that reads it."""

    layout: str
    name: str
    start: bytes
    piece: bytes
    end: bytes

    def write(self, root: Path, mib: int) -> None:
        """Write it, so many MiB long."""
        (root / self.name).parent.mkdir(exist_ok=True)
        block = self.piece * ((1 << 20) // len(self.piece))
        with (root / self.name).open("wb") as file:
            file.write(self.start)
            for _ in range(mib):
                file.write(block)
            file.write(self.end)


_COCO = "coco", "annotations.json"
LARGE = {
    "spaces": Large(*_COCO, b'{"images": [', b" ", b'], "annotations": [], "categories": []}'),
    "numbers": Large(*_COCO, b'{"images": [], "categories": [], "annotations": [0', b",1", b"]}"),
    "one text": Large(*_COCO, b'{"images": "', b"a", b'"}'),
    "one number": Large(*_COCO, b'{"images": ', b"1", b"}"),
    "lists in lists": Large(*_COCO, b'{"images": ', b"[", b""),
    "objects in objects": Large(*_COCO, b"", b'{"images": ', b""),
    "one line": Large("jsonl", "data.jsonl", b'{"text": "', b"a", b'"}\n'),
    "lists in a line": Large("jsonl", "data.jsonl", b"", b"[", b"\n"),
    "one cell": Large("csv", "labels.csv", b'path,label\n"', b"a", b'"\n'),
    "one row": Large("csv", "labels.csv", b"path,label\n", b"a,", b"\n"),
    "names": Large("yolo", "data.yaml", b"names: [", b"a,", b"]"),
    "boxes": Large("yolo", "labels/ok.txt", b"", b"0 0.5 0.5 0.1 0.1\n", b""),
    "one box": Large("yolo", "labels/ok.txt", b"0", b" 0.5", b"\n"),
    "objects": Large("voc", "Annotations/ok.xml", b"<annotation>", b"<object/>", b"</annotation>"),
    "elements in elements": Large("voc", "Annotations/ok.xml", b"<annotation>", b"<a>", b""),
    "a long text": Large("text", "a.txt", b"", b"word ", b""),
}
