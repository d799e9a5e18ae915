"""Define the table that tells the secrets that a database was made with from others."""

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Table, check


class SecretCheck(Table, table=True):
    """Hold an HMAC of a fixed text under the secret called ``name``, which it does not tell."""

    __tablename__ = "secret_check"
    __table_args__ = (
        UniqueConstraint("name"),
        check("name", "length(name) >= 1"),
        check("digest", "length(digest) = 32"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    digest: bytes
