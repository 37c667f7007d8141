"""Data sets whose samples are rows of a file: no release can list them.

A release names files, so that ``sha256sum -c`` can check them and a pull can lay them out; a
row's bytes are no file. What is wrong with rows is in the quarantine list.
"""

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from sickbay.contract.errors import Refused
from sickbay.contract.rows import ROW_LAYOUTS, row_of
from sickbay.quarantine.tables import DataSet, Sample


def refuse_rows(session: Session, data_set: DataSet) -> None:
    """Refuse a release of rows.

    Raises:
        Refused: a sample is a row; the sentence says what to do instead.
    """
    if has_rows(session, data_set):
        raise Refused(
            f"Samples of {data_set.name} are rows of a file, and a release lists whole files only: "
            "download the quarantine list (JSONL or TSV), which names file and row, and leave "
            "those rows out where you load them."
        )


def has_rows(session: Session, data_set: DataSet) -> bool:
    """Say whether a sample of the data set is a row of a file."""
    if data_set.layout not in ROW_LAYOUTS:
        return False
    likely = session.scalars(
        select(Sample.raw_path).where(
            Sample.data_set_id == data_set.id,
            Sample.gone.is_(False),
            or_(Sample.path.like("%#row=_________%"), Sample.path.like("%#line=_________%")),
        ),
        execution_options={"yield_per": 1000},
    )
    return any(row_of(data_set.layout, raw_path) is not None for raw_path in likely)
