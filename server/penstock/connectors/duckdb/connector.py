"""Read registered files with DuckDB."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from penstock.connectors.connector import ExactAnswer, Snapshot
from penstock.connectors.duckdb import parquet_cells, source_file
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement
from penstock.errors import InvalidInput


class Files:
    """Read a file on this machine, which is the registered one before and after it is read."""

    snapshot: Final = Snapshot.CONTENT

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def check(self, dataset: DatasetSpec) -> None:
        """Check the header of the dataset's file; see ``Connector.check``."""
        from penstock.connectors.duckdb.conformance import require_conformance

        file = source_file.locate(dataset, self._sources.folder)
        source_file.check_columns(dataset, source_file.column_names(file))
        parquet_cells.check_types(dataset, file)
        require_conformance(file.format)

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC of the file's bytes.

        Raises ``InvalidInput`` if there is no such file, ``SourceChanged`` if it changes while it
        is read.
        """
        file = source_file.locate(dataset, self._sources.folder)
        return source_file.stamp(file, key, progress).fingerprint

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the file is there and is the one that was registered."""
        source_file.check_unchanged(self._registered(dataset), key, fingerprint, progress)

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
        """Read the file with a statement; the bits do not depend on the number of threads."""
        from penstock.connectors.duckdb import source

        with self._opened(dataset, key, fingerprint, progress) as (file, names):
            steps = source.run(
                statement,
                file,
                names,
                salt,
                threads=self._sources.threads,
                memory=self._sources.memory,
            )
            return ExactAnswer(steps)

    @contextmanager
    def _opened(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> Iterator[tuple[source_file.SourceFile, Sequence[str]]]:
        """Yield the registered file and its columns; raise ``SourceChanged`` if it is another."""
        from penstock.connectors.duckdb.conformance import require_conformance

        file = self._registered(dataset)
        before = source_file.check_unchanged(file, key, fingerprint, progress)
        try:
            names = source_file.column_names(file)
            source_file.check_columns(dataset, names)
            require_conformance(file.format)
            progress("counting")
            yield file, names
        finally:
            # Also after an error: a changed file is its most likely cause.
            source_file.check_untouched(file, key, before, progress)

    def _registered(self, dataset: DatasetSpec) -> source_file.SourceFile:
        try:
            return source_file.locate(dataset, self._sources.folder)
        except InvalidInput:
            raise source_file.vanished() from None
