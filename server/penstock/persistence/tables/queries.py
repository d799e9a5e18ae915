"""Define the tables of queries, tiers' levels, releases, releases to users, and wordings.

A level is a rung of the query's public ladder everywhere: integers are compared, never floats.
Fractions are text, ``"numerator/denominator"``; integers that may exceed 64 bits are text too.
"""

from datetime import datetime

from sqlalchemy import BigInteger, UniqueConstraint
from sqlmodel import Field

from penstock.persistence.tables.columns import (
    Identifier,
    Moment,
    Numbered,
    Signed,
    Table,
    check,
    name_checks,
    number_of,
)
from penstock.persistence.tables.datasets import Allowance, Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier, User
from penstock.spec_fields import without_number


class Query(Numbered, table=True):
    """Hold a fixed statistic over a dataset, and the state of its noise process.

    ``canonical_hash`` is of the computed spec with its dataset, null for pushed vectors,
    and never of values.  ``sealed_fingerprint`` is the keyed fingerprint of the exact answer
    under encryption, null before the anchor.  ``seq`` is that of the newest release, -1
    before the anchor.  ``mac`` is an HMAC of the row under a key that is not in the database.
    ``structure`` (JSON) belongs to streams alone; their ``dimension`` is how many numbers one
    privacy unit takes part in, which is what is charged.  ``power`` (a fraction) belongs to
    generalized Gaussian noise alone, ``histogram`` (JSON) to sparse histograms, whose ``dimension``
    is how many keys differ between neighbors.  ``frozen`` is when a restore that may have lost
    draws of it was acknowledged: it draws no more noise.  ``mismatches`` is how often exact values
    other than the anchor's were sent to raise it, null if never. ``declaration`` is the number of
    the dataset's declaration under which it was registered, null for the first.  ``read_states``
    (JSON) are the engine's names of the states of the rows that were read, null if it has none.
    ``allowance_id`` is the allowance under which an analyst registered it, null if an admin did;
    the name then ends with a comma and the number of the analyst's tier.
    """

    __tablename__ = "query"
    __table_args__ = (
        *name_checks(),
        UniqueConstraint("folded"),
        UniqueConstraint("canonical_hash"),
        check("mechanism", "length(mechanism) >= 1"),
        check("calibration", "calibration >= 1"),
        check("dimension", "dimension >= 1"),
        check("ladder_doubling", "ladder_doubling >= 1"),
        check("ladder_last", "ladder_last >= 0"),
        check("ceiling", "ceiling BETWEEN 0 AND ladder_last"),
        check("max_levels", "max_levels >= 1"),
        check("status", "status IN ('pending', 'active', 'retired')"),
        check("seq", "seq >= -1"),
        check("anchored", "status <> 'active' OR seq >= 0"),
        check("wrapped_dek", "length(wrapped_dek) >= 1"),
        check("by", 'length("by") >= 1'),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    name: str
    folded: str
    dataset_id: int = Field(foreign_key=number_of(Dataset), sa_type=BigInteger, index=True)
    canonical_hash: str | None = None
    spec: str
    sql: str | None = None
    sql_hash: str | None = None
    mechanism: str
    calibration: int
    granularity: str
    dimension: int
    keys: str | None = None
    sensitivity_l1: str
    sensitivity_l2_squared: str
    sensitivity_linf: str
    ladder_finest: str
    ladder_unit: str
    ladder_doubling: int
    ladder_last: int
    ceiling: int
    max_levels: int
    status: str
    seq: int = -1
    wrapped_dek: bytes
    asserted_by: str | None = None
    created_at: datetime = Field(sa_type=Moment)
    by: str
    sealed_fingerprint: bytes | None = None
    mac: bytes | None = None
    structure: str | None = None
    histogram: str | None = None
    power: str | None = None
    frozen: str | None = None
    mismatches: int | None = None
    declaration: int | None = None
    read_states: str | None = None
    allowance_id: int | None = Field(
        default=None, foreign_key=number_of(Allowance), sa_type=BigInteger, index=True
    )

    @property
    def readable(self) -> str:
        """Return the name without the number of its maker's tier."""
        return without_number(self.name)


class Edition(Table, table=True):
    """Hold the edition of tiers, datasets, queries and their levels, in one row.

    Triggers replace ``value`` whenever one of them changes (``persistence.editions``).
    """

    __tablename__ = "edition"
    __table_args__ = (check("id", "id = 1"), check("value", "length(value) >= 1"))

    id: int = Field(default=1, primary_key=True, sa_column_kwargs={"autoincrement": False})
    value: str


class QueryLevel(Signed, table=True):
    """Hold the rung of a tier in a query from a version on."""

    __tablename__ = "query_level"
    __table_args__ = (
        UniqueConstraint("query_id", "tier_id", "version"),
        check("version", "version >= 1"),
        check("rung", "rung >= 0"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    query_id: int = Field(foreign_key="query.id", sa_type=BigInteger)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger, index=True)
    version: int
    rung: int
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None


class Release(Numbered, table=True):
    """Hold the vector at one rung, sealed, with the rungs that it was drawn from.

    Both UNIQUE constraints matter: a rung has one vector, and no two draws are conditioned on the
    same state.  The anchor is ``seq`` 0.
    """

    __tablename__ = "release"
    __table_args__ = (
        UniqueConstraint("public_id"),
        UniqueConstraint("query_id", "rung"),
        UniqueConstraint("query_id", "seq"),
        check("public_id", "length(public_id) >= 1"),
        check("rung", "rung >= 0"),
        check("seq", "seq >= 0"),
        check("accurate_rung", "accurate_rung >= 0 AND accurate_rung < rung"),
        check("noisy_rung", "noisy_rung > rung"),
        check("ciphertext", "length(ciphertext) >= 1"),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    public_id: str
    query_id: int = Field(foreign_key="query.id", sa_type=BigInteger)
    rung: int
    seq: int
    accurate_rung: int | None = None
    noisy_rung: int | None = None
    ciphertext: bytes
    created_at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class Grant(Signed, table=True):
    """Record that a user received a release, the first time as a holder of ``tier_id``."""

    __tablename__ = "grant"
    __table_args__ = (UniqueConstraint("user_id", "release_id"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    user_id: int = Field(foreign_key=number_of(User), sa_type=BigInteger)
    release_id: int = Field(foreign_key="release.id", sa_type=BigInteger, index=True)
    tier_id: int = Field(foreign_key=number_of(Tier), sa_type=BigInteger)
    leaf_id: int = Field(foreign_key=number_of(Leaf), sa_type=BigInteger, index=True)
    at: datetime = Field(sa_type=Moment)
    mac: bytes | None = None


class HistogramState(Table, table=True):
    """Hold the keys whose noise is stored, and that noise, after the release ``seq``.

    It is overwritten with each new level, under the lock of the query's row.
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


class Wording(Signed, table=True):
    """Hold how a dataset, or a query or stream, is presented to readers, from a version on.

    Of a dataset it belongs to all versions, and refers to the first.  ``measured_in`` is what one
    unit of a measured number is.  ``tags``, ``labels`` (texts by the code of a key) and ``owners``
    (names of users) are JSON.  People write all of it; nothing is computed from it.
    """

    __tablename__ = "wording"
    __table_args__ = (
        UniqueConstraint("dataset_id", "version"),
        UniqueConstraint("query_id", "version"),
        check("subject", "dataset_id IS NOT NULL OR query_id IS NOT NULL"),
        check("version", "version >= 1"),
        check("by", 'length("by") >= 1'),
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=Identifier)
    dataset_id: int | None = Field(default=None, foreign_key=number_of(Dataset), sa_type=BigInteger)
    query_id: int | None = Field(default=None, foreign_key="query.id", sa_type=BigInteger)
    version: int
    title: str
    description: str
    measured_in: str
    tags: str
    labels: str
    owners: str
    at: datetime = Field(sa_type=Moment)
    by: str
    mac: bytes | None = None
