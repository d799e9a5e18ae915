"""Define the tables of charges to accounts and to allowances, with running totals."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import Identifier, Moment, Signed, check, number_of
from penstock.persistence.tables.datasets import Allowance, Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query


class Charge(Signed, table=True):
    """Hold one entry of the account of a tier in a dataset.

    ``loss`` is in units of 2^-40 at Rényi order ``order``, ``failure`` in units of 2^-62; either
    may be negative if a charge replaces an older one, but the totals may not.  ``seq`` counts the
    entries of one account, so that two writers who read the same totals cannot both append.
    """

    __tablename__ = "charge"
    __table_args__ = (
        UniqueConstraint("dataset_id", "tier_id", "seq"),
        check("seq", "seq >= 0"),
        check("rung", "rung >= 0"),
        check("order", '"order" > 1'),
        check("loss_total", "loss_total >= 0 AND loss_total >= loss"),
        check("failure_total", "failure_total >= 0 AND failure_total >= failure"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key=number_of(Dataset), sa_type=BigInteger)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger, index=True)
    seq: int
    query_id: int = Field(foreign_key=number_of(Query), sa_type=BigInteger, index=True)
    rung: int
    order: float
    loss: int = Field(sa_type=BigInteger)
    failure: int = Field(sa_type=BigInteger)
    loss_total: int = Field(sa_type=BigInteger)
    failure_total: int = Field(sa_type=BigInteger)
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class AllowanceCharge(Signed, table=True):
    """Hold what a query that an analyst registered counts for against its allowance.

    It is in the units of ``Charge``, at the order of the allowance's own account, for the ``rung``
    of the analyst's tier.  The totals begin at what was spent before this version of the allowance,
    and ``seq`` counts its entries, so that two writers cannot both append to the same totals.
    """

    __tablename__ = "allowance_charge"
    __table_args__ = (
        UniqueConstraint("allowance_id", "seq"),
        UniqueConstraint("query_id"),
        check("seq", "seq >= 0"),
        check("rung", "rung >= 0"),
        check("loss", "loss >= 0"),
        check("failure", "failure >= 0"),
        check("loss_total", "loss_total >= loss"),
        check("failure_total", "failure_total >= failure"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    allowance_id: int = Field(foreign_key=number_of(Allowance), sa_type=BigInteger)
    seq: int
    query_id: int = Field(foreign_key=number_of(Query), sa_type=BigInteger)
    rung: int
    loss: int = Field(sa_type=BigInteger)
    failure: int = Field(sa_type=BigInteger)
    loss_total: int = Field(sa_type=BigInteger)
    failure_total: int = Field(sa_type=BigInteger)
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class SpentFloor(Signed, table=True):
    """Hold a lower bound on an account's spending, if charges were lost with a database.

    It is in the units of ``Charge``.  Later charges add to it."""

    __tablename__ = "spent_floor"
    __table_args__ = (
        check("loss", "loss >= 0"),
        check("failure", "failure >= 0"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key=number_of(Dataset), sa_type=BigInteger, index=True)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger)
    loss: int = Field(sa_type=BigInteger)
    failure: int = Field(sa_type=BigInteger)
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None
