"""Table of the parts that the scan in force was received in."""

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sickbay.database.tables import Base, BigId


class ScanPart(Base):
    """One batch of the scan in force, by what it said; its records became samples."""

    __tablename__ = "scan_part"
    __table_args__ = (UniqueConstraint("data_set_id", "content"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    data_set_id: Mapped[int] = mapped_column(ForeignKey("data_set.id"))
    content: Mapped[str] = mapped_column(String(64))
    samples: Mapped[int]
    held: Mapped[int]
    not_decoded: Mapped[int]
    first_path: Mapped[bytes] = mapped_column(LargeBinary)
    last_path: Mapped[bytes] = mapped_column(LargeBinary)
