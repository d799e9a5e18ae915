"""Define the tables of streams: sealed states, and the totals that were released.

A stream is a row of ``query`` with a ``structure``; its levels, charges and grants are those of any
query, with one ``release`` for each rung, whose values are stored here.
"""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Signed,
    Table,
    check,
    number_of,
)
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query


class StreamState(Table, table=True):
    """Hold the exact running total and the noise of the nodes in use, after ``step`` elements.

    It is overwritten with each push, under the lock of the query's row.
    """

    __tablename__ = "stream_state"
    __table_args__ = (
        UniqueConstraint("query_id"),
        check("step", "step >= 0"),
        check("ciphertext", "length(ciphertext) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    query_id: int = Field(foreign_key=number_of(Query), sa_type=BigInteger)
    step: int = Field(sa_type=BigInteger)
    ciphertext: bytes


class StreamOutput(Table, table=True):
    """Hold the released totals at one rung of steps ``first`` to ``last``, sealed."""

    __tablename__ = "stream_output"
    __table_args__ = (
        UniqueConstraint("query_id", "rung", "first"),
        UniqueConstraint("query_id", "rung", "last"),
        check("rung", "rung >= 0"),
        check("steps", "first >= 1 AND last >= first"),
        check("ciphertext", "length(ciphertext) >= 1"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    query_id: int = Field(foreign_key=number_of(Query), sa_type=BigInteger)
    rung: int
    first: int = Field(sa_type=BigInteger)
    last: int = Field(sa_type=BigInteger)
    ciphertext: bytes
    created_at: datetime = Field(sa_type=Moment)


class FedElement(Signed, table=True):
    """Hold which element of a stream is the answer of a query on a version of its dataset.

    A version feeds a stream at most once, so that nobody in it is in more of its elements than
    was stated when the stream was opened.
    """

    __tablename__ = "fed_element"
    __table_args__ = (
        UniqueConstraint("query_id", "dataset_id"),
        UniqueConstraint("query_id", "step"),
        check("step", "step >= 1"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    query_id: int = Field(foreign_key=number_of(Query), sa_type=BigInteger)
    dataset_id: int = Field(foreign_key=number_of(Dataset), sa_type=BigInteger, index=True)
    step: int = Field(sa_type=BigInteger)
    created_at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None
