"""Samples in training: which a step used, verdicts, changes, reports, and how often each failed."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column(
        "sample", sa.Column("failures", sa.BigInteger(), server_default="0", nullable=False)
    )
    op.create_index(
        "ix_sample_status_failures",
        "sample",
        ["data_set_id", "gone", "status", "failures", "raw_path"],
    )
    op.add_column("failure", sa.Column("ref", sa.String(length=16), nullable=True))
    op.create_index("ix_failure_ref", "failure", ["attempt_id", "ref"])
    _make_used_samples()
    _make_failure_verdict()
    _make_course_change()
    _make_run_report()


def _make_used_samples() -> None:
    op.create_table(
        "used_samples",
        sa.Column("id", _ID, nullable=False),
        sa.Column("attempt_id", _ID, nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("first_step", sa.BigInteger(), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_used_samples_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_used_samples")),
    )
    op.create_index("ix_used_samples_step", "used_samples", ["attempt_id", "rank", "first_step"])


def _make_failure_verdict() -> None:
    op.create_table(
        "failure_verdict",
        sa.Column("id", _ID, nullable=False),
        sa.Column("attempt_id", _ID, nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("ref", sa.String(length=16), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempt.id"], name=op.f("fk_failure_verdict_attempt_id_attempt")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failure_verdict")),
    )
    op.create_index("ix_failure_verdict_ref", "failure_verdict", ["attempt_id", "ref", "id"])


def _make_course_change() -> None:
    op.create_table(
        "course_change",
        sa.Column("id", _ID, nullable=False),
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("what", sa.String(length=200), nullable=False),
        sa.Column("before", sa.String(), nullable=False),
        sa.Column("after", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_course_change_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_change")),
    )
    op.create_index(op.f("ix_course_change_run_id"), "course_change", ["run_id"])


def _make_run_report() -> None:
    op.create_table(
        "run_report",
        sa.Column("id", _ID, nullable=False),
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("attempt", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_report_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_report")),
    )
    op.create_index(op.f("ix_run_report_run_id"), "run_report", ["run_id"])
