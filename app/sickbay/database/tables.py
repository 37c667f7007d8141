"""What every table shares: base class, keys, moments."""

import enum
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from sqlalchemy import JSON, BigInteger, Dialect, Enum, Integer, MetaData, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

BigId = BigInteger().with_variant(Integer, "sqlite")
"""A 64-bit key that SQLite can number by itself."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UtcTime(TypeDecorator[datetime]):
    """A moment, stored as whole microseconds since 1970 so that it sorts and pages exactly."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return microseconds since 1970."""
        del dialect
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return the moment, in UTC."""
        del dialect
        return None if value is None else _EPOCH + timedelta(microseconds=value)


def _values(kind: type[enum.Enum]) -> list[str]:
    """Store an enumeration by its values: a new member then needs no migration."""
    return [str(member.value) for member in kind]


class Base(DeclarativeBase):
    """Every table's base; migrations on SQLite rely on the naming convention."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcTime,
        int: BigInteger,
        enum.Enum: Enum(enum.Enum, native_enum=False, length=16, values_callable=_values),
        dict[str, Any]: JSON,
        list[str]: JSON,
    }


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)
