"""Data sets, scans, samples, findings, decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    _make_data_set()
    _make_replacement()
    _make_sample()
    _make_scan()
    _make_tally()
    _make_decision()
    _make_finding()
    _make_scan_batch()
    _forbid_changes_to_decisions()


def _make_data_set() -> None:
    op.create_table(
        "data_set",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("root", sa.String(), nullable=True),
        sa.Column("layout", sa.String(length=32), nullable=False),
        sa.Column("classes", sa.JSON(), nullable=False),
        sa.Column("scan_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_set")),
        sa.UniqueConstraint("name", name=op.f("uq_data_set_name")),
    )


def _make_replacement() -> None:
    op.create_table(
        "replacement",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=True),
        sa.Column("height", sa.BigInteger(), nullable=True),
        sa.Column("format", sa.String(length=32), nullable=True),
        sa.Column("mode", sa.String(length=32), nullable=True),
        sa.Column("thumbnail", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_replacement")),
    )


def _make_sample() -> None:
    op.create_table(
        "sample",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("raw_path", sa.LargeBinary(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("split", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("width", sa.BigInteger(), nullable=True),
        sa.Column("height", sa.BigInteger(), nullable=True),
        sa.Column("format", sa.String(length=32), nullable=True),
        sa.Column("mode", sa.String(length=32), nullable=True),
        sa.Column("stat", sa.String(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("worst_code", sa.String(length=64), nullable=True),
        sa.Column("worst_severity", sa.String(length=16), nullable=True),
        sa.Column("findings", sa.BigInteger(), nullable=False),
        sa.Column("approved_codes", sa.JSON(), nullable=True),
        sa.Column("decided_sha256", sa.String(length=64), nullable=True),
        sa.Column("replacement", sa.String(length=64), nullable=True),
        sa.Column("thumbnail", sa.String(length=64), nullable=True),
        sa.Column("held_at", sa.BigInteger(), nullable=True),
        sa.Column("scan_id", sa.BigInteger(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_sample_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample")),
        sa.UniqueConstraint("data_set_id", "raw_path", name=op.f("uq_sample_data_set_id_raw_path")),
    )
    with op.batch_alter_table("sample", schema=None) as batch_op:
        batch_op.create_index("ix_sample_sha256", ["data_set_id", "sha256"], unique=False)
        batch_op.create_index(
            "ix_sample_status_held",
            ["data_set_id", "gone", "status", "held_at", "id"],
            unique=False,
        )
        batch_op.create_index(
            "ix_sample_status_path", ["data_set_id", "gone", "status", "raw_path"], unique=False
        )


def _make_scan() -> None:
    op.create_table(
        "scan",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("layout", sa.String(length=32), nullable=False),
        sa.Column("classes", sa.JSON(), nullable=False),
        sa.Column("root", sa.String(), nullable=True),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("started_by", sa.String(length=80), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_scan_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan")),
        sa.UniqueConstraint("key", name=op.f("uq_scan_key")),
    )
    with op.batch_alter_table("scan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scan_data_set_id"), ["data_set_id"], unique=False)


def _make_tally() -> None:
    op.create_table(
        "tally",
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("facet", sa.String(length=16), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_tally_data_set_id_data_set")
        ),
        sa.PrimaryKeyConstraint("data_set_id", "status", "facet", "value", name=op.f("pk_tally")),
    )


def _make_decision() -> None:
    op.create_table(
        "decision",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "sample_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("batch", sa.String(length=32), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("was", sa.String(length=16), nullable=False),
        sa.Column("became", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=32), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("reviewer", sa.String(length=80), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("undoes", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_decision_data_set_id_data_set")
        ),
        sa.ForeignKeyConstraint(
            ["sample_id"], ["sample.id"], name=op.f("fk_decision_sample_id_sample")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
    )
    with op.batch_alter_table("decision", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_decision_batch"), ["batch"], unique=False)
        batch_op.create_index(
            "ix_decision_reviewer", ["data_set_id", "reviewer", "id"], unique=False
        )
        batch_op.create_index("ix_decision_sample", ["sample_id", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_decision_undoes"), ["undoes"], unique=False)


def _make_finding() -> None:
    op.create_table(
        "finding",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "data_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "sample_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("code", sa.String(length=64), nullable=False),
        sa.Column("severity", sa.String(length=16), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("item", sa.String(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["data_set_id"], ["data_set.id"], name=op.f("fk_finding_data_set_id_data_set")
        ),
        sa.ForeignKeyConstraint(
            ["sample_id"], ["sample.id"], name=op.f("fk_finding_sample_id_sample")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
    )
    with op.batch_alter_table("finding", schema=None) as batch_op:
        batch_op.create_index(
            "ix_finding_code_sample", ["data_set_id", "code", "sample_id"], unique=False
        )
        batch_op.create_index("ix_finding_sample_code", ["sample_id", "code"], unique=False)


def _make_scan_batch() -> None:
    op.create_table(
        "scan_batch",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("scan_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("records", sa.LargeBinary(), nullable=False),
        sa.Column("extras", sa.JSON(), nullable=False),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("last_path", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["scan_id"], ["scan.id"], name=op.f("fk_scan_batch_scan_id_scan")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scan_batch")),
        sa.UniqueConstraint("scan_id", "number", name=op.f("uq_scan_batch_scan_id_number")),
    )


def _forbid_changes_to_decisions() -> None:
    """The history is append-only, also for whoever opens the file with another program."""
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER decision_no_{change.lower()} BEFORE {change} ON decision "
            "BEGIN SELECT RAISE(ABORT, 'decisions are never changed or deleted'); END"
        )
