"""Read registered objects of a bucket with DuckDB, which is handed their rows and opens nothing."""

from typing import Final

from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement
from penstock.connectors.storage.access import Access, access_of
from penstock.connectors.storage.lake import Lake, located, registered


class Lakes:
    """Read objects that are, before and after they are read, those that were registered.

    They are recognized by the store's entity tags, which each read asks for (see ``lake``).
    """

    snapshot: Final = Snapshot.VERSION

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def check(self, dataset: DatasetSpec) -> None:
        """Check the footers of the dataset's objects; see ``Connector.check``."""
        from penstock.connectors.duckdb.conformance import require_conformance

        self._located(dataset).check(dataset)
        require_conformance("stream")

    def pinned(self, dataset: DatasetSpec) -> str:
        """Return the address of the dataset's table at its present version."""
        return str(self._located(dataset).address)

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the objects' names, sizes and entity tags."""
        progress("listing the objects")
        return self._located(dataset).fingerprint(key)

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the objects are those that were registered."""
        progress("checking that the objects are the registered ones")
        self._registered(dataset, key, fingerprint)

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan."""
        from penstock.connectors.duckdb.dialect import DuckDB
        from penstock.connectors.statements.template import statement

        return statement(plan, DuckDB())

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:  # noqa: ARG002
        """Return True if a text that another version wrote runs here (see ``source.fits``)."""
        from penstock.connectors.duckdb import source

        return source.fits(statement)

    def answer(
        self,
        dataset: DatasetSpec,
        statement: Statement,
        salt: bytes,
        key: bytes,
        fingerprint: bytes,
        progress: Progress,
    ) -> ExactAnswer:
        """Read the objects with a statement; the bits do not depend on the number of threads."""
        from penstock.connectors.duckdb.conformance import require_conformance
        from penstock.connectors.duckdb.streamed import run_streamed

        lake = self._registered(dataset, key, fingerprint)
        require_conformance("stream")
        try:
            steps = run_streamed(
                statement,
                lambda aliases: lake.relation(aliases, progress),
                salt,
                threads=self._sources.threads,
                memory=self._sources.memory,
            )
            return ExactAnswer(steps)
        finally:
            # Also after an error: objects that changed are its most likely cause.
            progress("checking that no object was changed meanwhile")
            self._registered(dataset, key, fingerprint)

    def _located(self, dataset: DatasetSpec) -> Lake:
        return located(access_to(dataset, self._sources), dataset.source.uri or "")

    def _registered(self, dataset: DatasetSpec, key: bytes, fingerprint: bytes) -> Lake:
        access = access_to(dataset, self._sources, registered=True)
        return registered(access, dataset.source.uri or "", key, fingerprint)


def access_to(dataset: DatasetSpec, sources: Sources, *, registered: bool = False) -> Access:
    """Return the access that the dataset's connection gives.

    Raises as ``Connections.require`` does, and ``Unavailable`` for one that describes no store.
    """
    name = dataset.source.connection or ""
    return access_of(sources.connections.require(name, "duckdb", registered=registered), name)
