"""Define the tables of the audit log: leaves, the tree over them, and signed checkpoints."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlalchemy.orm import column_property
from sqlmodel import Field, col, select

from penstock.persistence.tables.columns import Identifier, Moment, Table, check, partial_index

# Inside the class the name `bytes` is a column.
Octets = bytes

_PENDING = '"index" IS NULL'
"""The condition of an index over the few leaves without a place, to avoid a scan of all."""


class Leaf(Table, table=True):
    """Hold one leaf: its canonical bytes, their hash, and the fields for searching.

    ``index`` is its place in the tree, null until it has one, and set once.  ``note``, which is not
    a column, is that of the first checkpoint that covers it.  ``user``, ``dataset`` and ``query``
    are the names in the leaf itself.
    """

    __tablename__ = "leaf"
    __table_args__ = (
        UniqueConstraint("index"),
        Index("ix_leaf_actor_kind", "actor", "kind"),
        partial_index("ix_leaf_pending", "id", _PENDING),
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


class TreeNode(Table, table=True):
    """Hold a complete subtree of the log: ``2^level`` leaves, the ``position``-th of them."""

    __tablename__ = "tree_node"
    __table_args__ = (
        UniqueConstraint("level", "position"),
        check("level", "level >= 1"),
        check("position", "position >= 0"),
        check("hash", "length(hash) = 32"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    level: int
    position: int = Field(sa_type=BigInteger)
    hash: bytes


class LogKey(Table, table=True):
    """Hold a signing key of checkpoints: the public half, and the private half wrapped."""

    __tablename__ = "log_key"
    __table_args__ = (
        UniqueConstraint("public"),
        check("public", "length(public) = 32"),
        check("wrapped", "length(wrapped) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public: bytes
    wrapped: bytes
    created_at: datetime = Field(sa_type=Moment)


class Checkpoint(Table, table=True):
    """Hold a checkpoint: the signed root at one tree size; ``note`` is its full text."""

    __tablename__ = "checkpoint"
    __table_args__ = (
        UniqueConstraint("size"),
        check("size", "size >= 1"),
        check("root", "length(root) = 32"),
        check("note", "length(note) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    size: int = Field(sa_type=BigInteger)
    root: bytes
    note: str
    log_key_id: int = Field(foreign_key="log_key.id", sa_type=BigInteger)


class Cosignature(Table, table=True):
    """Hold a cosigner's signature of a checkpoint; ``signed_at`` in POSIX seconds."""

    __tablename__ = "cosignature"
    __table_args__ = (
        UniqueConstraint("checkpoint_id", "public"),
        check("name", "length(name) >= 1"),
        check("public", "length(public) = 32"),
        check("signed_at", "signed_at >= 0"),
        check("signature", "length(signature) = 64"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    checkpoint_id: int = Field(foreign_key="checkpoint.id", sa_type=BigInteger)
    name: str
    public: bytes
    signed_at: int = Field(sa_type=BigInteger)
    signature: bytes


_COVERING = (
    select(Checkpoint.note)
    .where(col(Checkpoint.size) > col(Leaf.index))
    .order_by(col(Checkpoint.size))
    .limit(1)
    .correlate(Leaf)
    .scalar_subquery()
)
# Loaded with every leaf: answers and lists show both.
Leaf.note = column_property(_COVERING, expire_on_flush=False)
