"""Define the table that detects secrets other than those that the database was created with."""

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Table, check


class SecretCheck(Table, table=True):
    """Hold an HMAC of a fixed text under the secret ``name``; it does not reveal the secret."""

    __tablename__ = "secret_check"
    __table_args__ = (
        UniqueConstraint("name"),
        check("name", "length(name) >= 1"),
        check("digest", "length(digest) = 32"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    digest: bytes
