"""Policies, findings of files that are no samples, and what else a scan says since records 2."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    _widen_scan()
    op.add_column("sample", sa.Column("decoded", sa.Boolean(), nullable=True))
    _make_file_finding()
    _make_policy_change()
    _forbid_changes_to_policy_changes()
    _end_scans_of_older_records()


def _widen_scan() -> None:
    op.add_column("scan", sa.Column("policy", sa.JSON(), nullable=True))
    op.add_column("scan", sa.Column("depth", sa.String(length=16), nullable=True))
    op.add_column("scan", sa.Column("labels", sa.JSON(), nullable=True))
    op.add_column("scan", sa.Column("findings", sa.JSON(), nullable=True))


def _make_file_finding() -> None:
    op.create_table(
        "file_finding",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("scan_id", sa.BigInteger(), nullable=False),
        sa.Column("raw_path", sa.LargeBinary(), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=False),
        sa.Column("item", sa.String(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_file_finding_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_finding")),
    )
    op.create_index("ix_file_finding_place", "file_finding", ["data_set_id", "raw_path", "id"])


def _make_policy_change() -> None:
    op.create_table(
        "policy_change",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("policy", sa.JSON(), nullable=False),
        sa.Column("changed_by", sa.String(length=80), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_policy_change_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policy_change")),
        sa.UniqueConstraint(
            "data_set_id", "version", name=op.f("uq_policy_change_data_set_id_version")
        ),
    )


def _forbid_changes_to_policy_changes() -> None:
    """Who asked for what, and when, is as append-only as decisions are."""
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER policy_change_no_{change.lower()} BEFORE {change} ON policy_change "
            "BEGIN SELECT RAISE(ABORT, 'changes of a policy are never changed or deleted'); END"
        )


def _end_scans_of_older_records() -> None:
    """A scan that was arriving holds records of version 1, which no newer scanner goes on with."""
    op.execute(
        "DELETE FROM scan_batch WHERE scan_id IN (SELECT id FROM scan WHERE state = 'receiving')"
    )
    op.execute("UPDATE scan SET state = 'abandoned' WHERE state = 'receiving'")
