"""The leaves of the audit log."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Table, check

# Inside the class the name `bytes` is a column.
Octets = bytes


class Leaf(Table, table=True):
    """One leaf: its canonical bytes, their hash, and the fields that it is found by.

    ``index`` is its place in the tree, null until it is put there, and set once.
    ``user``, ``dataset`` and ``query`` are the names that stand in the leaf itself.
    """

    __tablename__ = "leaf"
    __table_args__ = (
        UniqueConstraint("index"),
        Index("ix_leaf_actor_kind", "actor", "kind"),
        check("index", '"index" >= 0'),
        check("bytes", 'length("bytes") >= 1'),
        check("hash", "length(hash) = 32"),
        check("kind", "length(kind) >= 1"),
        check("actor", "length(actor) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    index: int | None = Field(default=None, sa_type=BigInteger)
    bytes: Octets
    hash: Octets
    kind: str = Field(index=True)
    at: datetime = Field(sa_type=Moment, index=True)
    actor: str
    user: str | None = Field(default=None, index=True)
    dataset: str | None = None
    query: str | None = Field(default=None, index=True)
