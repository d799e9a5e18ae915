"""Read registered views with ClickHouse.

A dataset's fingerprint is that of the server and of names and types: its rows may change
between queries.
"""

from typing import TYPE_CHECKING, Final

from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement

if TYPE_CHECKING:
    from penstock.connectors.clickhouse.session import Limits


class ClickHouseViews:
    """Read a view whose names and types are the registered ones."""

    snapshot: Final = Snapshot.NONE

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def check(self, dataset: DatasetSpec) -> None:
        """Check the view's columns, and ask ClickHouse the questions."""
        from penstock.connectors.clickhouse.conformance import require_conformance
        from penstock.connectors.clickhouse.reading import reading
        from penstock.connectors.clickhouse.views import check_columns, view_of

        address = self._address(dataset, registered=False)
        with reading(address, self._limits()) as session:
            check_columns(dataset, view_of(session, dataset, address))
            require_conformance(session, address)

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the server's and the view's names, and of its columns' types."""
        from penstock.connectors.clickhouse.reading import reading
        from penstock.connectors.clickhouse.views import view_of

        progress("looking up the view")
        address = self._address(dataset, registered=False)
        with reading(address, self._limits()) as session:
            return view_of(session, dataset, address).fingerprint(key)

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the view has the registered names and types."""
        from penstock.connectors.clickhouse.reading import reading
        from penstock.connectors.clickhouse.views import registered_view

        progress("checking that the view is the registered one")
        address = self._address(dataset, registered=True)
        with reading(address, self._limits()) as session:
            registered_view(session, dataset, address, key, fingerprint)

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan."""
        from penstock.connectors.clickhouse.dialect import ClickHouse
        from penstock.connectors.statements.template import statement

        return statement(plan, ClickHouse())

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:
        """Return True if ClickHouse would run a text, and return columns that are decoded here."""
        from penstock.connectors.clickhouse.reading import reading
        from penstock.connectors.clickhouse.relations import relations_of, source_of, surrounded
        from penstock.connectors.clickhouse.views import declared_view, kind_of

        address = self._address(dataset, registered=True)
        with reading(address, self._limits()) as session:
            view = declared_view(session, dataset, address)
            source = source_of(statement.plan, view.quoted, view.types)
            text = surrounded(statement, source)
            schema = session.schema(text, relations_of(statement, b""))
        if schema is None or tuple(schema) != statement.returned:
            return False
        return all(kind_of(schema[name]) == "Int64" for name in statement.columns)

    def answer(
        self,
        dataset: DatasetSpec,
        statement: Statement,
        salt: bytes,
        key: bytes,
        fingerprint: bytes,
        progress: Progress,
    ) -> ExactAnswer:
        """Read the view with a statement."""
        from penstock.connectors.clickhouse.conformance import require_conformance
        from penstock.connectors.clickhouse.reading import reading
        from penstock.connectors.clickhouse.relations import relations_of, source_of, surrounded
        from penstock.connectors.clickhouse.views import registered_view
        from penstock.connectors.statements.decoding import decoded

        address = self._address(dataset, registered=True)
        with reading(address, self._limits()) as session:
            view = registered_view(session, dataset, address, key, fingerprint)
            require_conformance(session, address)
            progress("counting")
            source = source_of(statement.plan, view.quoted, view.types)
            table = session.table(surrounded(statement, source), relations_of(statement, salt))
        rows = {name: table.column(name).to_numpy() for name in table.column_names}
        return ExactAnswer(decoded(statement, rows))

    def _address(self, dataset: DatasetSpec, *, registered: bool) -> str:
        return self._sources.connections.require(
            dataset.source.connection, "clickhouse", registered=registered
        )

    def _limits(self) -> "Limits":
        from penstock.connectors.clickhouse.session import Limits

        sources = self._sources
        return Limits(sources.memory, sources.threads, sources.statement_timeout)
