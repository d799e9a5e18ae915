"""Define what all tables share: metadata with a naming convention, and column types."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Connection,
    DateTime,
    Index,
    Integer,
    MetaData,
    event,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import SQLModel

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every constraint has a name from its first day: SQLite cannot alter a nameless one."""


class Table(SQLModel):
    """Hold the base of every table."""

    # SQLModel validates no rows of tables, so their validators are not built.
    model_config = {"defer_build": True}

    metadata: ClassVar[MetaData] = metadata


class Signed(Table):
    """Hold the base of the tables whose rows are authenticated (``row_authentication``)."""


class Numbered(Signed):
    """Hold the base of those signed tables whose rows others refer to by number."""

    if TYPE_CHECKING:  # each declares it, so that it comes first in its table
        id: int | None


class Identifier(TypeDecorator[int]):
    """Hold a 64-bit key; SQLite numbers rows by itself only if the type is ``INTEGER``."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[int]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Integer())
        return dialect.type_descriptor(BigInteger())


class Moment(TypeDecorator[datetime]):
    """Store an aware point in time, and load it aware and in UTC, on every database.

    Naive datetimes raise ``ValueError``, which SQLAlchemy wraps into ``StatementError``.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored moment needs a time zone")
        moment = value.astimezone(UTC)
        # SQLite stores text of fixed width, which sorts in order of time.
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the signature is SQLAlchemy's
    ) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def number_of(table: type[Table]) -> str:
    """Return the column of another module's table that a foreign key refers to.

    A name alone would leave that table undefined for a program that imports only this one.
    """
    return f"{table.__tablename__}.id"


def check(name: str, condition: str) -> CheckConstraint:
    """Return a CHECK constraint, named ``ck_<table>_<name>``."""
    return CheckConstraint(condition, name=name)


def partial_index(name: str, column: str, condition: str, *, unique: bool = False) -> Index:
    """Return an index over the rows of a table that meet ``condition``."""
    return Index(name, column, unique=unique, sqlite_where=text(condition))


@event.listens_for(metadata, "before_create")
def _repeat_conditions(target: MetaData, connection: Connection, **_: object) -> None:
    """Give partial indexes their condition on PostgreSQL too.

    As an argument of the index it would load PostgreSQL's dialect in every process.
    """
    if connection.dialect.name != "postgresql":
        return
    for table in target.tables.values():
        for index in table.indexes:
            index.dialect_kwargs["postgresql_where"] = index.dialect_options["sqlite"]["where"]


def name_checks() -> tuple[CheckConstraint, CheckConstraint]:
    """Return the constraints on ``name`` and ``folded``.  Folding may lengthen a name."""
    return (
        check("name", "length(name) BETWEEN 1 AND 64"),
        check("folded", "length(folded) >= 1"),
    )
