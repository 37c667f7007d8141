"""CleanVision's default ``find_issues`` over a list of files, in one process.

    python -m venv PEER && PEER/bin/pip install cleanvision
    PEER/bin/python tests/benchmarks/peers/cleanvision_issues.py < NAMES

``tests.benchmarks.test_scan_speed`` runs it where SICKBAY_CLEANVISION names PEER/bin/python. It
stops on a damaged file, so only sound ones may be named. It prints its CPU seconds, imports not
counted. It needs CleanVision and nothing of ours.
"""

import contextlib
import io
import sys
import time

from cleanvision import Imagelab


def main() -> None:
    names = sys.stdin.read().split("\n")
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        Imagelab(filepaths=names).find_issues(n_jobs=1)
    print(time.process_time() - began)  # noqa: T201 (its output)


if __name__ == "__main__":
    main()
