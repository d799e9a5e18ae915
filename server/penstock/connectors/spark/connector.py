"""Read registered views with Spark.

A dataset's fingerprint is that of the cluster's address and of names and types: its rows may change
between queries.
"""

from typing import Final

from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement


class SparkViews:
    """Read a view whose names and types are the registered ones."""

    snapshot: Final = Snapshot.NONE

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def check(self, dataset: DatasetSpec) -> None:
        """Check the view's columns, and ask Spark the questions."""
        from penstock.connectors.spark.conformance import require_conformance
        from penstock.connectors.spark.session import reading
        from penstock.connectors.spark.views import check_columns, view_of

        address = self._address(dataset, registered=False)
        with reading(address, self._sources.memory) as session:
            check_columns(dataset, view_of(session, dataset, address))
            require_conformance(session, address)

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the cluster's and the view's names, and of its columns' types."""
        from penstock.connectors.spark.session import reading
        from penstock.connectors.spark.views import view_of

        progress("looking up the view")
        address = self._address(dataset, registered=False)
        with reading(address, self._sources.memory) as session:
            return view_of(session, dataset, address).fingerprint(key)

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the view has the registered names and types."""
        from penstock.connectors.spark.session import reading
        from penstock.connectors.spark.views import registered_view

        progress("checking that the view is the registered one")
        address = self._address(dataset, registered=True)
        with reading(address, self._sources.memory) as session:
            registered_view(session, dataset, address, key, fingerprint)

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan."""
        from penstock.connectors.spark.dialect import Spark
        from penstock.connectors.statements.template import statement

        return statement(plan, Spark())

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:
        """Return True if Spark would run a text, and return columns that are decoded here."""
        from penstock.connectors.spark.relations import declare
        from penstock.connectors.spark.session import reading
        from penstock.connectors.spark.views import declared_view

        address = self._address(dataset, registered=True)
        with reading(address, self._sources.memory) as session:
            view = declared_view(session, dataset, address)
            declare(session, statement, b"", view.quoted, view.types, reads=False)
            schema = session.schema(statement.text)
        if schema is None or tuple(schema) != statement.returned:
            return False
        return all(schema[name] == "bigint" for name in statement.columns)

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
        from penstock.connectors.spark.conformance import require_conformance
        from penstock.connectors.spark.relations import declare
        from penstock.connectors.spark.session import reading
        from penstock.connectors.spark.views import registered_view
        from penstock.connectors.statements.decoding import decoded

        address = self._address(dataset, registered=True)
        with reading(address, self._sources.memory) as session:
            view = registered_view(session, dataset, address, key, fingerprint)
            require_conformance(session, address)
            progress("counting")
            declare(session, statement, salt, view.quoted, view.types, reads=True)
            table = session.table(statement.text)
        rows = {name: table.column(name).to_numpy() for name in table.column_names}
        return ExactAnswer(decoded(statement, rows))

    def _address(self, dataset: DatasetSpec, *, registered: bool) -> str:
        return self._sources.connections.require(
            dataset.source.connection, "spark", registered=registered
        )
