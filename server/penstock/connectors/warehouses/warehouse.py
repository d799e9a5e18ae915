"""Read one dataset's view or table in a warehouse."""

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.connections import Connections
from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.planning.plan import Plan
from penstock.connectors.planning.refusals import pointer, refusal
from penstock.connectors.progress import Progress
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.decoding import decoded
from penstock.connectors.statements.questions import (
    OPEN_QUESTIONS,
    QUESTIONS,
)
from penstock.connectors.statements.questions import (
    SALT as PROBED_SALT,
)
from penstock.connectors.statements.statement import SALT, Statement
from penstock.connectors.statements.template import statement as statement_of
from penstock.connectors.warehouses.dialects import WarehouseDialect
from penstock.connectors.warehouses.session import Columns, Engine, Refused, Session
from penstock.connectors.warehouses.surroundings import (
    probe_source,
    qualified,
    surrounded,
    typed_source,
)
from penstock.errors import InvalidInput, SourceChanged, Unavailable

_TABLE = pointer("source", "table")


class Warehouse:
    """Read what one engine has under a connection.

    Where the engine's tables have versions, a table is read as it was at one time, at which it was
    the registered one.  Otherwise only its name and columns are recognized.
    """

    def __init__(self, engine: Engine, connections: Connections) -> None:
        self._engine = engine
        self._connections = connections

    @property
    def snapshot(self) -> Snapshot:
        """Return how registered data are recognized."""
        versioned = self._engine.version(("schema", "table")) is not None
        return Snapshot.VERSION if versioned else Snapshot.NONE

    def check(self, dataset: DatasetSpec) -> None:
        """Check the table's columns, and the engine by the questions; see ``Connector.check``."""
        with self._session(dataset, registered=False) as session:
            self._check_columns(dataset, self._columns(session, dataset))
            self._version(session, dataset)
            different = differences(self._engine, session)
        if different:
            raise Unavailable(
                f"{self._engine.name} answers the conformance probe incorrectly"
                f" ({', '.join(different)}), so no data are read with it."
            )

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the table's name, columns and version."""
        progress("asking for the table's version")
        with self._session(dataset, registered=False) as session:
            return self._identity(session, dataset, key)[0]

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the table is the registered one."""
        progress("asking for the table's version")
        with self._session(dataset, registered=True) as session:
            self._registered(session, dataset, key, fingerprint)

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan."""
        return statement_of(plan, self._engine.dialect)

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:
        """Return True if a text that another version wrote runs here, on no rows."""
        with self._session(dataset, registered=True) as session:
            types = self._columns(session, dataset)
            source = typed_source(
                statement.plan, self._table(dataset), types, self._engine.dialect, empty=True
            )
            try:
                answered = self._run(session, statement, source, b"")
            except Refused:
                return False
        return tuple(answered) == statement.returned and not any(map(len, answered.values()))

    def answer(
        self,
        dataset: DatasetSpec,
        statement: Statement,
        salt: bytes,
        key: bytes,
        fingerprint: bytes,
        progress: Progress,
    ) -> ExactAnswer:
        """Read the table, as it was when it was last seen to be the registered one."""
        with self._session(dataset, registered=True) as session:
            types, now = self._registered(session, dataset, key, fingerprint)
            table = self._table(dataset)
            if now is not None:
                table = self._engine.at(table, now)
            progress("counting")
            source = typed_source(statement.plan, table, types, self._engine.dialect)
            try:
                rows = self._run(session, statement, source, salt)
            except Refused:
                raise Unavailable(
                    f"{self._engine.name} does not run the statement: it may lack memory, or the"
                    " right to read the table. Nothing was released."
                ) from None
        return ExactAnswer(decoded(statement, arrays(rows)))

    def _registered(
        self, session: Session, dataset: DatasetSpec, key: bytes, fingerprint: bytes
    ) -> tuple[Mapping[str, str], str | None]:
        """Return the columns' types, and a time at which the table is the registered one."""
        try:
            own, types, now = self._identity(session, dataset, key)
        except InvalidInput:
            raise self._changed("cannot be found") from None
        if not hmac.compare_digest(own, fingerprint):
            raise self._changed("is not the one that was registered")
        return types, now

    def _changed(self, what: str) -> SourceChanged:
        return SourceChanged(
            f"The dataset's table on {self._engine.name} {what}. Nothing was released. Put the"
            " registered one back, or register the new one as a new version of the dataset."
        )

    def _identity(
        self, session: Session, dataset: DatasetSpec, key: bytes
    ) -> tuple[bytes, Mapping[str, str], str | None]:
        types = self._columns(session, dataset)
        version, now = self._version(session, dataset)
        source = dataset.source
        secret = self._connections.require(source.connection, source.engine, registered=True)
        located = list(self._engine.located(secret, self._parts(dataset)))
        content = json.dumps([self._engine.name, located, dict(types), version])
        return hmac.new(key, content.encode(), "sha256").digest(), types, now

    def _columns(self, session: Session, dataset: DatasetSpec) -> Mapping[str, str]:
        """Return the engine's types of the declared columns that the table has."""
        text, parameters = self._engine.columns(self._parts(dataset))
        try:
            described = session.rows(text, parameters)
        except Refused:
            raise self._missing() from None
        types = dict(zip(described["name"], described["type"], strict=True))
        if not types:
            raise self._missing()
        return {name: str(types[name]) for name in sorted(dataset.columns) if name in types}

    def _missing(self) -> InvalidInput:
        return InvalidInput(
            f"There is no such table or view on {self._engine.name} that this connection may read;"
            " check its name, which is written as the engine stores it.",
            pointer=_TABLE,
        )

    def _check_columns(self, dataset: DatasetSpec, types: Mapping[str, str]) -> None:
        places = []
        for name, column in dataset.columns.items():
            known = self._engine.types[column.type]
            if name not in types:
                places.append((pointer("columns", name), "The table has no such column."))
            elif types[name].upper().partition("(")[0].strip() not in known:
                sentence = (
                    f"The table's column has another type; for {column.type} it must be"
                    f" {' or '.join(known)}. Make a view that casts it."
                )
                places.append((pointer("columns", name, "type"), sentence))
        if places:
            raise refusal(places)

    def _version(self, session: Session, dataset: DatasetSpec) -> tuple[str | None, str | None]:
        """Return the table's version and the engine's time, None for engines without versions."""
        described = self._engine.version(self._parts(dataset))
        if described is None:
            return None, None
        try:
            row = {name: column[0] for name, column in session.rows(*described).items() if column}
        except Refused:
            raise self._missing() from None
        if not row:
            raise self._missing()
        if row["kind"] != "table":
            raise InvalidInput(
                f"On {self._engine.name} only tables have versions, and this is a view: its rows"
                " may change unseen. Name a table, for example one that a query of yours writes.",
                pointer=_TABLE,
            )
        return str(row["version"]), str(row["now"])

    def _run(self, session: Session, statement: Statement, source: str, salt: bytes) -> Columns:
        return run(self._engine, session, statement, source, salt)

    @contextmanager
    def _session(self, dataset: DatasetSpec, *, registered: bool) -> Iterator[Session]:
        source = dataset.source
        secret = self._connections.require(source.connection, source.engine, registered=registered)
        session = self._engine.opened(secret)
        try:
            yield session
        finally:
            session.close()

    def _parts(self, dataset: DatasetSpec) -> Sequence[str]:
        return (dataset.source.table or "").split(".")

    def _table(self, dataset: DatasetSpec) -> str:
        return qualified(self._parts(dataset), self._engine.dialect)


def run(
    engine: Engine, session: Session, statement: Statement, source: str, salt: bytes
) -> Columns:
    """Run a statement over a source.  Raises ``Unavailable`` for one that is too long."""
    text = surrounded(statement, source, engine.dialect)
    if len(text) > engine.longest:
        raise InvalidInput(
            f"The query's keys make a statement of {len(text)} characters, and {engine.name} takes"
            f" {engine.longest}; group by fewer of them."
        )
    parameters: dict[str, str] = {}
    if statement.plan.unit is not None:
        parameters[SALT] = salt.hex()
        if isinstance(engine.dialect, WarehouseDialect) and engine.dialect.repeats:
            parameters[f"{SALT}_again"] = salt.hex()
    return session.rows(text, parameters)


def arrays(rows: Columns) -> dict[str, NDArray[Any]]:
    """Return what a statement returned as arrays; whole decimals become integers."""
    return {
        name: np.asarray([int(cell) if isinstance(cell, Decimal) else cell for cell in cells])
        for name, cells in rows.items()
    }


def reached(engine: Engine, secret: str) -> tuple[str, str]:
    """Return an engine's version, and how it answers the conformance probe.

    Raises ``InvalidInput`` for a connection that it refuses, ``Unavailable`` if it is away.
    """
    session = engine.opened(secret)
    try:
        version = str(session.rows(engine.release, {})["version"][0])
        different = differences(engine, session)
    except Refused:
        raise InvalidInput(f"{engine.name} was reached and refuses the connection.") from None
    finally:
        session.close()
    return version, f"failed: {', '.join(different)}" if different else "passed"


def differences(engine: Engine, session: Session) -> list[str]:
    """Return the names of the probe's questions that an engine answers incorrectly."""
    source = probe_source(engine.dialect)
    wrong = []
    for question in (*QUESTIONS, *OPEN_QUESTIONS):
        statement = statement_of(question.plan, engine.dialect)
        try:
            rows = run(engine, session, statement, source, PROBED_SALT)
            answer = decoded(statement, arrays(rows))
        except (Refused, RuntimeError, ValueError, KeyError):
            wrong.append(question.name)
            continue
        if not question.is_answered_by(answer):
            wrong.append(question.name)
    return wrong
