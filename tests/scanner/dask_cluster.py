"""A Dask scheduler and workers on loopback, started by a test and ended with it."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

DASK = "from dask.__main__ import main; main()"


@dataclass
class Cluster:
    """One scheduler and its workers."""

    folder: Path
    processes: list["subprocess.Popen[str]"] = field(default_factory=list)
    address: str = ""

    def start(self) -> None:
        """Start the scheduler."""
        said = self._run(
            "Scheduler at:", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        self.address = said.split("tcp://")[-1].strip()

    def worker(self, *options: str, program: str = DASK) -> "subprocess.Popen[str]":
        """Start a worker and wait until the scheduler knows it."""
        given = ("--nthreads", "2", "--no-dashboard", "--local-directory", str(self.folder))
        address = f"tcp://{self.address}"
        self._run("Registered to:", "worker", address, *given, *options, program=program)
        return self.processes[-1]

    def _run(self, ready: str, *command: str, program: str = DASK) -> str:
        """Start a part and return the line that says it is ready."""
        process = subprocess.Popen(
            [sys.executable, "-c", program, *command],
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )
        self.processes.append(process)
        assert process.stderr is not None
        return next(line for line in process.stderr if ready in line)

    @property
    def url(self) -> str:
        """What ``--executor`` is given."""
        return f"dask://{self.address}"

    def stop(self) -> None:
        """End everything, workers first."""
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()
