"""Releases and their files."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _make_release()
    _make_release_file()


def _make_release() -> None:
    op.create_table(
        "release",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("parent", sa.String(length=64), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_release_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release")),
        sa.UniqueConstraint("data_set_id", "digest", name=op.f("uq_release_data_set_id_digest")),
    )
    with op.batch_alter_table("release", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_release_data_set_id"), ["data_set_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_release_digest"), ["digest"], unique=False)


def _make_release_file() -> None:
    op.create_table(
        "release_file",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "release_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=True),
        sa.Column("in_id", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["release_id"], ["release.id"], name=op.f("fk_release_file_release_id_release")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_file")),
        sa.UniqueConstraint("release_id", "name", name=op.f("uq_release_file_release_id_name")),
    )
