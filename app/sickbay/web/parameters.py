"""Types of parameters in paths and queries: bounded before anything looks them up."""

from typing import Annotated, Literal

from fastapi import Path, Query

INT64_MOST = (1 << 63) - 1

SampleId = Annotated[int, Path(ge=1, le=INT64_MOST)]
DataSetName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Sha256 = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
Classes = Annotated[Literal["all"] | None, Query()]
"""Whether a table of classes is shown whole, however long."""
