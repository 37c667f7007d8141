"""Runs, attempts, points and their summaries, failures and their groups, the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _run()
    _attempt()
    _change()
    _failure_group()
    _told()
    _event_keys()
    _failure()
    _run_rank()
    _series()
    _spark()
    _waiting_points()
    _chunk()
    _failure_sample()
    _summary_page()


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("attempt_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("key", name=op.f("uq_run_key")),
        sa.UniqueConstraint("name", name=op.f("uq_run_name")),
    )
    with op.batch_alter_table("run", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_run_attempt_id"), ["attempt_id"], unique=False)


def _attempt() -> None:
    op.create_table(
        "attempt",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("launch", sa.String(length=200), nullable=False),
        sa.Column("resume", sa.Boolean(), nullable=False),
        sa.Column("world_size", sa.BigInteger(), nullable=False),
        sa.Column("dataset", sa.String(length=255), nullable=True),
        sa.Column("data_set_id", sa.BigInteger(), nullable=True),
        sa.Column("release", sa.String(length=255), nullable=True),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("seeds", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("heartbeat_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "ending",
            sa.Enum("finished", "failed", "stopped", name="ending", native_enum=False, length=16),
            nullable=True,
        ),
        sa.Column("main", sa.String(length=255), nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.Column("last_value", sa.Double(), nullable=True),
        sa.Column("last_word", sa.String(length=4), nullable=True),
        sa.Column("dropped", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_attempt_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint("run_id", "number", name=op.f("uq_attempt_run_id_number")),
    )
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.create_index("ix_attempt_launch", ["run_id", "launch"], unique=False)


def _change() -> None:
    op.create_table(
        "change",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "attempt",
                "points",
                "failure",
                "alert",
                "state",
                name="changekind",
                native_enum=False,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("ref", sa.BigInteger(), nullable=True),
        sa.Column("first_step", sa.BigInteger(), nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.Column("series", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_change_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change")),
    )


def _failure_group() -> None:
    op.create_table(
        "failure_group",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("fingerprint", sa.String(length=32), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.String(length=32), nullable=False),
        sa.Column("exception_type", sa.String(length=255), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("layer", sa.String(length=16), nullable=True),
        sa.Column("category", sa.String(length=32), nullable=True),
        sa.Column("secondary", sa.Boolean(), nullable=False),
        sa.Column("merged_into", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.Column("first_step", sa.BigInteger(), nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.Column("first_at", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_failure_group_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failure_group")),
        sa.UniqueConstraint(
            "run_id",
            "version",
            "fingerprint",
            name=op.f("uq_failure_group_run_id_version_fingerprint"),
        ),
    )
    with op.batch_alter_table("failure_group", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_failure_group_fingerprint"), ["fingerprint"], unique=False
        )


def _told() -> None:
    op.create_table(
        "told",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column(
            "level",
            sa.Enum("info", "warn", "error", name="level", native_enum=False, length=16),
            nullable=False,
        ),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_told_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_told")),
    )
    with op.batch_alter_table("told", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_told_run_id"), ["run_id"], unique=False)


def _event_keys() -> None:
    op.create_table(
        "event_keys",
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_event_keys_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("attempt_id", "rank", "first_seq", name=op.f("pk_event_keys")),
        sqlite_with_rowid=False,
    )


def _failure() -> None:
    op.create_table(
        "failure",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("secondary", sa.Boolean(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_failure_attempt_id_attempt")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"], ["failure_group.id"], name=op.f("fk_failure_group_id_failure_group")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failure")),
        sa.UniqueConstraint(
            "attempt_id", "rank", "seq", name=op.f("uq_failure_attempt_id_rank_seq")
        ),
    )
    with op.batch_alter_table("failure", schema=None) as batch_op:
        batch_op.create_index("ix_failure_group", ["group_id", "id"], unique=False)
        batch_op.create_index("ix_failure_time", ["attempt_id", "secondary", "time"], unique=False)


def _run_rank() -> None:
    op.create_table(
        "run_rank",
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("process", sa.String(length=64), nullable=True),
        sa.Column("local_rank", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("heartbeat_at", sa.BigInteger(), nullable=False),
        sa.Column("client_time", sa.BigInteger(), nullable=False),
        sa.Column("lag_us", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "ending",
            sa.Enum("finished", "failed", "stopped", name="ending", native_enum=False, length=16),
            nullable=True,
        ),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("dropped", sa.JSON(), nullable=False),
        sa.Column("events", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.Column("waiting_rows", sa.BigInteger(), nullable=False),
        sa.Column("waiting_points", sa.BigInteger(), nullable=False),
        sa.Column("folds", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_run_rank_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("attempt_id", "rank", name=op.f("pk_run_rank")),
    )


def _series() -> None:
    op.create_table(
        "series",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("nan", sa.BigInteger(), nullable=False),
        sa.Column("pos_inf", sa.BigInteger(), nullable=False),
        sa.Column("neg_inf", sa.BigInteger(), nullable=False),
        sa.Column("first_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("base", sa.BigInteger(), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_series_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint(
            "attempt_id", "name", "rank", name=op.f("uq_series_attempt_id_name_rank")
        ),
    )


def _spark() -> None:
    op.create_table(
        "spark",
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("series", sa.String(length=255), nullable=False),
        sa.Column("width", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_spark_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("attempt_id", name=op.f("pk_spark")),
    )


def _waiting_points() -> None:
    op.create_table(
        "waiting_points",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_waiting_points_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waiting_points")),
    )
    with op.batch_alter_table("waiting_points", schema=None) as batch_op:
        batch_op.create_index("ix_waiting_points_rank", ["attempt_id", "rank"], unique=False)


def _chunk() -> None:
    op.create_table(
        "chunk",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "series_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("first_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_chunk_series_id_series")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chunk")),
    )
    with op.batch_alter_table("chunk", schema=None) as batch_op:
        batch_op.create_index("ix_chunk_series", ["series_id", "first_step"], unique=False)


def _failure_sample() -> None:
    op.create_table(
        "failure_sample",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("group_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "failure_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("raw_path", sa.LargeBinary(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("sample_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["failure_id"], ["failure.id"], name=op.f("fk_failure_sample_failure_id_failure")
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["failure_group.id"],
            name=op.f("fk_failure_sample_group_id_failure_group"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failure_sample")),
    )
    with op.batch_alter_table("failure_sample", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_failure_sample_failure_id"), ["failure_id"], unique=False
        )
        batch_op.create_index("ix_failure_sample_group", ["group_id", "raw_path"], unique=False)
        batch_op.create_index("ix_failure_sample_sample", ["sample_id"], unique=False)


def _summary_page() -> None:
    op.create_table(
        "summary_page",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "series_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("level", sa.BigInteger(), nullable=False),
        sa.Column("page", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["series_id"], ["series.id"], name=op.f("fk_summary_page_series_id_series")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_summary_page")),
        sa.UniqueConstraint(
            "series_id", "level", "page", name=op.f("uq_summary_page_series_id_level_page")
        ),
    )
