"""Parts of the scan in force, so that what is unchanged is neither sent nor merged again."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("scan_batch", sa.Column("not_decoded", sa.BigInteger(), nullable=True))
    op.add_column("scan_batch", sa.Column("first_path", sa.LargeBinary(), nullable=True))
    op.add_column("scan_batch", sa.Column("content", sa.String(length=64), nullable=True))
    op.add_column("scan_batch", sa.Column("repeats", sa.Boolean(), nullable=True))
    op.create_table(
        "scan_part",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("content", sa.String(length=64), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("not_decoded", sa.BigInteger(), nullable=False),
        sa.Column("first_path", sa.LargeBinary(), nullable=False),
        sa.Column("last_path", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_scan_part_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan_part")),
        sa.UniqueConstraint(
            "data_set_id", "content", name=op.f("uq_scan_part_data_set_id_content")
        ),
    )
