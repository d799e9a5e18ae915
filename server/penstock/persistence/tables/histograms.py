"""Sparse histograms: the sealed state that the next level is drawn from.

A sparse histogram is a row of ``query`` with a ``histogram``; its levels, releases, charges
and hand-outs are those of any query.
"""

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Table, check


class HistogramState(Table, table=True):
    """The keys that noise is kept for, and this noise, after the release ``seq``.

    Overwritten with each new level, under the lock of the query's row.
    """

    __tablename__ = "histogram_state"
    __table_args__ = (
        UniqueConstraint("query_id"),
        check("seq", "seq >= 0"),
        check("ciphertext", "length(ciphertext) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    query_id: int = Field(foreign_key="query.id", sa_type=BigInteger)
    seq: int = Field(sa_type=BigInteger)
    ciphertext: bytes
