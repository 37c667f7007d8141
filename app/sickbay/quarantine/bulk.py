"""Many rows written by one statement, without objects of the ORM between."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Table, bindparam, insert, update
from sqlalchemy.orm import Session

from sickbay.database.tables import Base
from sickbay.quarantine.tables import Sample


def insert_rows(session: Session, kind: type[Base], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows given by column name."""
    if rows:
        session.execute(insert(_table(kind)), rows)


def update_samples(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set the columns that the rows name on the samples with their ``id``."""
    if rows:
        table = _table(Sample)
        given = [{"key": row["id"], **{k: v for k, v in row.items() if k != "id"}} for row in rows]
        session.execute(update(table).where(table.c.id == bindparam("key")), given)


def _table(kind: type[Base]) -> Table:
    return cast("Table", kind.__table__)
