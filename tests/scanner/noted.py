"""A set of generated samples and what the whole set says of each."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sickbay.contract.finding import Finding, SampleRecord
from sickbay.contract.paths import SamplePath
from sickbay.contract.policy import Policy
from sickbay.scanner.checks.whole import FirstPass, Sample, WholeSet
from sickbay.scanner.checks.whole.alike import MOST_COMPARISONS
from sickbay.scanner.evidence import ArrayFacts, Examined, Traits


@dataclass
class Noted:
    """Samples in order; ``add`` makes up what a test does not care for."""

    rows: list[tuple[str, str, str, str, Examined, list[str] | None]] = field(default_factory=list)

    def add(
        self,
        path: str,
        *,
        label: str = "",
        kind: str = "picture",
        content: str | None = None,
        hashed: int | None = None,
        size: tuple[int, int] = (640, 480),
        brightness: float = 100.0,
        arrays: tuple[ArrayFacts, ...] = (),
        labels: list[str] | None = None,
        form: str = "JPEG",
    ) -> None:
        """Take up a sample; its split is the first folder of its path, if it has two."""
        picture = kind == "picture"
        found = Examined(
            size=10,
            sha256=hashlib.sha256((path if content is None else content).encode()).hexdigest(),
            width=size[0] if picture else None,
            height=size[1] if picture else None,
            format=form,
            mode="RGB" if picture else None,
            traits=Traits(hashed, brightness) if picture else None,
            arrays=arrays,
            decoded=True,
        )
        split = path.partition("/")[0] if "/" in path else ""
        self.rows.append((path, split, label, kind, found, labels))

    def said(
        self, policy: Policy | None = None, most: int = MOST_COMPARISONS
    ) -> dict[str, list[Finding]]:
        """Findings by path."""
        with self.whole(policy, most) as whole:
            return {
                row[0]: list(
                    whole.findings(
                        Sample(
                            number,
                            record_of(row[0].encode(), *row[1:3], row[4]),
                            row[3],
                            row[4].arrays,
                        )
                    )
                )
                for number, row in enumerate(self.rows)
            }

    def of_the_set(self, policy: Policy | None = None) -> list[Finding]:
        """What is said of the set itself."""
        with self.whole(policy) as whole:
            return list(whole.set_findings())

    @contextmanager
    def whole(
        self, policy: Policy | None = None, most: int = MOST_COMPARISONS
    ) -> Iterator[WholeSet]:
        """Look at the whole set."""
        first = FirstPass()
        for path, split, label, kind, found, labels in self.rows:
            first.note(path.encode(), split, label, kind, found, labels=labels)
        whole = WholeSet(first, policy or Policy(), most=most)
        try:
            yield whole
        finally:
            whole.close()


def record_of(raw: bytes, split: str, label: str, found: Examined) -> SampleRecord:
    """Return what the scan writes of a sample."""
    return SampleRecord(
        path=SamplePath(raw),
        split=split,
        label=label,
        size=found.size,
        mtime_ns=0,
        sha256=found.sha256,
        width=found.width,
        height=found.height,
        format=found.format,
        mode=found.mode,
        decoded=True,
    )
