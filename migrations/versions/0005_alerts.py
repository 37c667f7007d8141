"""Channels, rules, messages and their way out."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    _alert_channel()
    _alert_rule()
    _alert_message()
    _alert_rule_channel()
    _alert_standing()
    _alert_topic()
    _alert_delivery()
    _alert_try()


def _alert_channel() -> None:
    op.create_table(
        "alert_channel",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "email",
                "webhook",
                "slack",
                "feishu",
                "dingtalk",
                "wecom",
                "apprise",
                name="channelkind",
                native_enum=False,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("secrets", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_channel")),
    )


def _alert_rule() -> None:
    op.create_table(
        "alert_rule",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "failure",
                "spike",
                "silent",
                "ended",
                "told",
                "scan",
                "held",
                name="rulekind",
                native_enum=False,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("data_set", sa.String(length=255), nullable=False),
        sa.Column("only", sa.JSON(), nullable=False),
        sa.Column("threshold", sa.BigInteger(), nullable=False),
        sa.Column("window_minutes", sa.BigInteger(), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rule")),
    )


def _alert_message() -> None:
    op.create_table(
        "alert_message",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("rule_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "kind",
            sa.Enum(
                "notice",
                "digest",
                "recovery",
                "test",
                name="messagekind",
                native_enum=False,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("subject", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=250), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_message_rule_id_alert_rule")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_message")),
    )


def _alert_rule_channel() -> None:
    op.create_table(
        "alert_rule_channel",
        sa.Column("rule_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "channel_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["alert_channel.id"],
            name=op.f("fk_alert_rule_channel_channel_id_alert_channel"),
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_rule_channel_rule_id_alert_rule")
        ),
        sa.PrimaryKeyConstraint("rule_id", "channel_id", name=op.f("pk_alert_rule_channel")),
    )


def _alert_standing() -> None:
    op.create_table(
        "alert_standing",
        sa.Column("rule_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subject", sa.String(length=64), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_standing_rule_id_alert_rule")
        ),
        sa.PrimaryKeyConstraint("rule_id", "subject", name=op.f("pk_alert_standing")),
    )


def _alert_topic() -> None:
    op.create_table(
        "alert_topic",
        sa.Column("rule_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subject", sa.String(length=64), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.Column("held_back", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(length=250), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["alert_rule.id"], name=op.f("fk_alert_topic_rule_id_alert_rule")
        ),
        sa.PrimaryKeyConstraint("rule_id", "subject", name=op.f("pk_alert_topic")),
    )


def _alert_delivery() -> None:
    op.create_table(
        "alert_delivery",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "message_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "channel_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "state",
            sa.Enum(
                "waiting",
                "sending",
                "sent",
                "failed",
                "cancelled",
                name="deliverystate",
                native_enum=False,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["alert_channel.id"],
            name=op.f("fk_alert_delivery_channel_id_alert_channel"),
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["alert_message.id"],
            name=op.f("fk_alert_delivery_message_id_alert_message"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_delivery")),
    )
    with op.batch_alter_table("alert_delivery", schema=None) as batch_op:
        batch_op.create_index("ix_alert_delivery_due", ["state", "due_at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_alert_delivery_message_id"), ["message_id"], unique=False
        )


def _alert_try() -> None:
    op.create_table(
        "alert_try",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "delivery_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["alert_delivery.id"],
            name=op.f("fk_alert_try_delivery_id_alert_delivery"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_try")),
    )
    with op.batch_alter_table("alert_try", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_alert_try_delivery_id"), ["delivery_id"], unique=False)
