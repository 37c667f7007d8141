"""Alembic's entry: always on a connection that Sickbay hands in."""

from alembic import context

from sickbay.accounts import tables as _accounts  # noqa: F401 (registers its tables)
from sickbay.alerts import tables as _alerts  # noqa: F401 (registers its tables)
from sickbay.database.tables import Base
from sickbay.quarantine import tables as _quarantine  # noqa: F401 (registers its tables)
from sickbay.releases import tables as _releases  # noqa: F401 (registers its tables)
from sickbay.runs import tables as _runs  # noqa: F401 (registers its tables)
from sickbay.runs.failures import tables as _failures  # noqa: F401 (registers its tables)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,  # SQLite has it, and our connections begin what they say
    transaction_per_migration=False,  # all or nothing: a state is never left half-way
)
with context.begin_transaction():
    context.run_migrations()
