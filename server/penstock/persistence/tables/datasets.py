"""Define the tables of datasets, of the tiers' budgets in them, and of analysts' allowances."""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint, false
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Numbered,
    Signed,
    check,
    name_checks,
    number_of,
)
from penstock.persistence.tables.people import Tier


class Dataset(Numbered, table=True):
    """Hold one version of a dataset: its spec, and its keys and fingerprint under encryption.

    ``wrapped_kek`` is empty once the dataset was shredded.  ``disjoint_units`` is its registrar's
    statement that no privacy unit of it is in any earlier version.  ``spec``, ``neighboring`` and
    ``delta`` are the present declaration; ``declaration`` is its number, from 2 on, null if it was
    never corrected.  ``withdrawn_at`` is when it was withdrawn, before anything was charged: its
    number is not used again.  ``people`` is the key of the dataset that represents all those
    declared to have the same people; null if there is none.
    """

    __tablename__ = "dataset"
    __table_args__ = (
        *name_checks(),
        UniqueConstraint("folded", "version"),
        check("version", "version >= 1"),
        check("neighboring", "neighboring IN ('add_remove', 'replace')"),
        check("delta", "delta >= 0 AND delta < 1"),
        check("by", 'length("by") >= 1'),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    folded: str
    version: int
    spec: str
    neighboring: str
    delta: float
    wrapped_kek: bytes
    sealed_fingerprint: bytes | None = None
    sealed_salt: bytes | None = None
    disjoint_units: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    created_at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None
    declaration: int | None = None
    withdrawn_at: datetime | None = Field(default=None, sa_type=Moment)
    people: int | None = Field(default=None, sa_type=BigInteger)


class FormerDeclaration(Signed, table=True):
    """Hold a replaced declaration of a dataset's version, from before a correction.

    Queries that were registered under it are read with it.
    """

    __tablename__ = "former_declaration"
    __table_args__ = (
        UniqueConstraint("dataset_id", "number"),
        check("number", "number >= 1"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key="dataset.id", sa_type=BigInteger)
    number: int
    spec: str
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None


class TierBudget(Signed, table=True):
    """Hold a tier's budget in a dataset from a version on.

    ``order`` is the fixed Rényi order of the account; ``limit_loss`` is in units of
    2^-40 and ``limit_failure`` in units of 2^-62, as in ``penstock.accounting``.
    ``highest_epsilon`` is the largest of all versions, and of those of the account that this
    one was copied from; null in rows from before charges followed it.
    """

    __tablename__ = "tier_budget"
    __table_args__ = (
        UniqueConstraint("dataset_id", "tier_id", "version"),
        check("version", "version >= 1"),
        check("epsilon", "epsilon > 0"),
        check("delta", "delta >= 0 AND delta < 1"),
        check("order", '"order" > 1'),
        check("limit_loss", "limit_loss > 0"),
        check("limit_failure", "limit_failure >= 0"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key="dataset.id", sa_type=BigInteger)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger, index=True)
    version: int
    epsilon: float
    delta: float
    order: float
    limit_loss: int = Field(sa_type=BigInteger)
    limit_failure: int = Field(sa_type=BigInteger)
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None
    highest_epsilon: float | None = None


class Allowance(Numbered, table=True):
    """Hold what analysts of a tier may register by themselves in a dataset, from a version on.

    ``epsilon`` is null from when it was taken back.  Its account has its own Rényi order, and
    ``limit_loss`` and ``limit_failure`` in the units of ``TierBudget``, as ``spent_loss`` and
    ``spent_failure``: what the queries registered under earlier versions count for at this order.
    ``users`` (JSON) are the numbers of the users who may use it, null for all analysts whose
    clearance is the tier.
    """

    __tablename__ = "allowance"
    __table_args__ = (
        UniqueConstraint("dataset_id", "tier_id", "version"),
        check("version", "version >= 1"),
        check("epsilon", "epsilon > 0"),
        check("delta", "delta >= 0 AND delta < 1"),
        check("order", '"order" > 1'),
        check("limit_loss", "limit_loss >= 0"),
        check("limit_failure", "limit_failure >= 0"),
        check("spent_loss", "spent_loss >= 0"),
        check("spent_failure", "spent_failure >= 0"),
        check("by", 'length("by") >= 1'),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int = Field(foreign_key="dataset.id", sa_type=BigInteger)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger, index=True)
    version: int
    epsilon: float | None = None
    delta: float
    order: float
    limit_loss: int = Field(sa_type=BigInteger)
    limit_failure: int = Field(sa_type=BigInteger)
    spent_loss: int = Field(sa_type=BigInteger)
    spent_failure: int = Field(sa_type=BigInteger)
    users: str | None = None
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None
