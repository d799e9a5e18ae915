"""Read registered views in PostgreSQL.

PostgreSQL cannot go back in time: a dataset's fingerprint is that of names and types, and its rows
may change between queries.  Each query reads one state of them, of a view that is locked meanwhile,
and says which (``states``).
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement

if TYPE_CHECKING:
    from penstock.connectors.postgresql.session import Session


class Views:
    """Read a view whose names and types are the registered ones."""

    snapshot: Final = Snapshot.NONE

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def check(self, dataset: DatasetSpec) -> None:
        """Check the view's columns, and ask the server the questions."""
        from penstock.connectors.postgresql.conformance import require_conformance
        from penstock.connectors.postgresql.views import check_columns, view_of

        with self._reading(dataset, registered=False) as session:
            view = view_of(session, dataset)
            check_columns(dataset, view)
            require_conformance(session, view.version)

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the server's and the view's names, and of its columns' types."""
        from penstock.connectors.postgresql.views import view_of

        progress("looking up the view")
        with self._reading(dataset, registered=False) as session:
            return view_of(session, dataset).fingerprint(key)

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the view has the registered names and types."""
        from penstock.connectors.postgresql.views import registered_view

        progress("checking that the view is the registered one")
        with self._reading(dataset, registered=True) as session:
            registered_view(session, dataset, key, fingerprint)

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan."""
        from penstock.connectors.postgresql.dialect import PostgreSQL
        from penstock.connectors.statements.template import statement

        return statement(plan, PostgreSQL())

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:
        """Return True if the server would run a text, and return columns that are decoded here."""
        from penstock.connectors.postgresql.relations import surrounded, view_source
        from penstock.connectors.postgresql.views import view_of

        with self._reading(dataset, registered=True) as session:
            view = view_of(session, dataset)
            source = view_source(statement.plan, view.place, view.types)
            schema = session.schema(*surrounded(statement, source, b""))
        if schema is None or tuple(schema.names) != statement.returned:
            return False
        return all(str(schema.field(name).type) == "int64" for name in statement.columns)

    def answer(
        self,
        dataset: DatasetSpec,
        statement: Statement,
        salt: bytes,
        key: bytes,
        fingerprint: bytes,
        progress: Progress,
    ) -> ExactAnswer:
        """Read the view with a statement, in one transaction."""
        from penstock.connectors.postgresql.conformance import require_once
        from penstock.connectors.postgresql.relations import surrounded, view_source
        from penstock.connectors.postgresql.states import read
        from penstock.connectors.postgresql.views import registered_view
        from penstock.connectors.statements.decoding import decoded

        with self._reading(dataset, registered=True) as session:
            view = registered_view(session, dataset, key, fingerprint)
            require_once(session, view)
            progress("counting")
            source = view_source(statement.plan, view.place, view.types)
            text, parameters = surrounded(statement, source, salt)
            table, state = read(session, view, statement, text, parameters)
        rows = {name: table.column(name).to_numpy() for name in table.column_names}
        return ExactAnswer(decoded(statement, rows), state)

    def _reading(
        self, dataset: DatasetSpec, *, registered: bool
    ) -> "AbstractContextManager[Session]":
        from penstock.connectors.postgresql.session import reading

        address = self._sources.connections.require(
            dataset.source.connection, "postgresql", registered=registered
        )
        return reading(address, self._sources.statement_timeout)
