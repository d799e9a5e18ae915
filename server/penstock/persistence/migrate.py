"""Upgrade a database to the schema that this version needs."""

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, inspect, text

import penstock
from penstock.errors import SchemaUnknown
from penstock.persistence.dialects import dialect_of, translated

if TYPE_CHECKING:
    from alembic.config import Config

NEWEST: Final = "0035"
"""The revision that this version needs.

It is written down, so that opening a database does not import Alembic; a test holds it to the
migrations.
"""

_VERSION_TABLE = "alembic_version"
_VERSION = text("SELECT version_num FROM alembic_version")


@dataclass(frozen=True)
class Step:
    """Describe a revision that an upgrade would carry out: its name, and the change in words."""

    schema: str
    change: str


def script_location() -> Path:
    """Return the folder of the migrations: inside the installed package, else of the checkout."""
    package = Path(penstock.__file__).parent
    packaged = package / "migrations"
    return packaged if packaged.is_dir() else package.parents[1] / "migrations"


def configuration() -> "Config":
    """Return Alembic's configuration; there is no file for it."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@functools.cache
def steps() -> tuple[Step, ...]:
    """Return every revision that is known to this version with its change, oldest first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(configuration())
    return tuple(Step(script.revision, script.doc) for script in scripts.walk_revisions())[::-1]


def revisions() -> tuple[str, ...]:
    """Return every revision that is known to this version, oldest first."""
    return tuple(step.schema for step in steps())


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the connected database, None if it has none of ours."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    revisions_stored = connection.execute(_VERSION).scalars().all()
    # Our migrations never leave several rows behind.
    return ",".join(sorted(revisions_stored)) or None


def current(url: str) -> str | None:
    """Return the revision of the database at ``url``.

    Raises ``DatabaseUnavailable`` if there is none or it cannot be read.
    """
    dialect = dialect_of(url)
    engines = dialect.engines()
    try:
        with translated(dialect), engines.reader.connect() as connection:
            return revision_of(connection)
    finally:
        engines.dispose()


def preview(url: str) -> tuple[str | None, tuple[Step, ...]]:
    """Return the revision at ``url``, and the steps that ``upgrade`` would carry out there.

    Nothing is changed.  Raises ``SchemaUnknown`` where ``upgrade`` would refuse, and
    ``DatabaseUnavailable`` if there is no database or it cannot be read.
    """
    dialect = dialect_of(url)
    engines = dialect.engines()
    try:
        with translated(dialect), engines.reader.connect() as connection:
            revision = revision_of(connection)
            _refuse_foreign(connection, revision)
    finally:
        engines.dispose()
    done = revisions().index(revision) + 1 if revision is not None else 0
    return revision, steps()[done:]


def place(url: str) -> str:
    """Return the address of the database at ``url``, without the password that the URL may hold."""
    return dialect_of(url).place


def occupied(url: str) -> bool:
    """Return True if there is a schema of ours at ``url``.  Raises as ``current`` does."""
    return dialect_of(url).exists() and current(url) is not None


def statements(dialect: str) -> str:
    """Return the schema as SQL for ``dialect`` ("sqlite", "postgresql")."""
    from alembic import command

    written = io.StringIO()
    config = configuration()
    config.output_buffer = written
    config.attributes["dialect"] = dialect
    command.upgrade(config, "head", sql=True)
    return written.getvalue()


def upgrade(
    url: str,
    *,
    application_url: str = "",
    finish: Callable[[Connection, str | None], None] | None = None,
) -> tuple[str | None, str]:
    """Upgrade the database at ``url`` to ``NEWEST``, making it if there is none.

    It is one transaction: a failure leaves the old schema complete.  ``finish`` is called at its
    end, with the revision before.  If ``application_url`` names another role than ``url``, that
    role gets the privileges of the server: it may read and add to history, and not change it.
    Returns the revisions before and after. Raises ``SchemaUnknown`` for a database of a newer
    version or of another program, ``DatabaseUnavailable`` if it cannot be made, reached or written.
    """
    from alembic import command

    dialect = dialect_of(url)
    dialect.create()
    role = _role(application_url) if application_url not in ("", url) else None
    engine = dialect.migrator()
    try:
        with translated(dialect), engine.begin() as connection:
            before = revision_of(connection)
            _refuse_foreign(connection, before)
            config = configuration()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            dialect.check_references(connection)
            if finish is not None:
                finish(connection, before)
            if role is not None and role != dialect.role(connection):
                dialect.entitle(connection, role)
    finally:
        engine.dispose()
    return before, NEWEST


def _role(url: str) -> str | None:
    dialect = dialect_of(url)
    engines = dialect.engines()
    try:
        with translated(dialect), engines.reader.connect() as connection:
            return dialect.role(connection)
    finally:
        engines.dispose()


def _refuse_foreign(connection: Connection, revision: str | None) -> None:
    if revision is None and inspect(connection).get_table_names():
        raise SchemaUnknown(
            "The database has tables of another program. Name a separate database for Penstock"
            " in PENSTOCK_DATABASE_URL.",
            current=None,
            needed=NEWEST,
        )
    if revision is not None and revision not in revisions():
        raise SchemaUnknown(
            f"The database has schema {revision}, which this version of Penstock does not know"
            f" (its newest is {NEWEST}). Install the version that wrote it.",
            current=revision,
            needed=NEWEST,
        )
