"""From two specs to an answer: everything that can be known without data, then the data.

``answer`` is the one place where data are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.connectors import source_file
from penstock.connectors.canonical import canonical_hash
from penstock.connectors.conformance import require_conformance
from penstock.connectors.domain import Domain, Key
from penstock.connectors.interpret import interpret
from penstock.connectors.plan import Plan
from penstock.connectors.schema import check_schema
from penstock.connectors.sensitivity import derived
from penstock.connectors.specs import ComputedQuery, DatasetSpec
from penstock.connectors.sql import statement
from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity


@dataclass(frozen=True)
class PreparedQuery:
    """All that is fixed before an answer exists.

    ``keys`` is None for a pushed vector without keys (they are 0, 1, 2 ...).  ``dimension``
    is how many numbers the vector has: one for each key, for a mean the centered sums of
    all keys and then all weighted counts.  ``step`` is the value of one lattice step,
    ``bound`` the largest absolute value, ``sensitivity`` in units of the values.  ``sql``,
    its hash and the canonical hash belong to computed queries alone, ``mean_bounds`` (see
    ``Plan``) to means.
    """

    keys: Sequence[Key] | None
    dimension: int
    step: Fraction
    bound: Fraction
    sensitivity: Sensitivity
    sql: str | None = None
    sql_hash: str | None = None
    canonical_hash: str | None = None
    mean_bounds: tuple[Fraction, Fraction] | None = None


def prepare(
    dataset: DatasetSpec, query: ComputedQuery, *, version: int, mechanism: str
) -> PreparedQuery:
    """Derive keys, range, sensitivity, SQL and hashes; no file is touched.

    ``version`` is the dataset's, ``mechanism`` the name of the noise process.  Raises
    ``InvalidInput`` with the pointer of what cannot be meant.
    """
    statistic = interpret(dataset, query)
    written = statement(statistic)
    return PreparedQuery(
        keys=Domain(tuple(grouping.labels for grouping in statistic.groupings)),
        dimension=statistic.dimension,
        step=statistic.step,
        bound=statistic.saturation * statistic.step,
        sensitivity=derived(
            dataset.neighboring, statistic.contribution, statistic.max_groups, statistic.keys
        ).in_units(statistic.step),
        sql=written.text,
        sql_hash=written.sha256,
        canonical_hash=canonical_hash(statistic, dataset.name, version, mechanism),
        mean_bounds=statistic.mean_bounds,
    )


def check_source(dataset: DatasetSpec, folder: Path | None = None) -> None:
    """Check a dataset before it is registered: its spec, and the header of its file.

    Raises ``InvalidInput``, which depends on names of columns, the file's format and the
    spec alone, and ``Unavailable`` for an engine that computes otherwise than it should.
    ``folder`` is where files may lie (see ``source_file.locate``).
    """
    check_schema(dataset)
    if dataset.source.engine == "duckdb":
        file = source_file.locate(dataset, folder)
        source_file.check_columns(dataset, source_file.column_names(file))
        require_conformance(file.format)


def fingerprint(dataset: DatasetSpec, key: bytes, folder: Path | None = None) -> bytes:
    """HMAC-SHA256 of the dataset's file under ``key``: 32 bytes, fixed at registration.

    Raises ``InvalidInput`` where there is no such file, ``SourceChanged`` where it changes
    under the reader.
    """
    return source_file.stamp(source_file.locate(dataset, folder), key).fingerprint


def check_registered(
    dataset: DatasetSpec, *, fingerprint_key: bytes, fingerprint: bytes, folder: Path | None = None
) -> None:
    """Raise ``SourceChanged`` unless the file is there and is the one that was registered."""
    source_file.check_unchanged(_registered(dataset, folder), fingerprint_key, fingerprint)


def answer(
    dataset: DatasetSpec,
    query: ComputedQuery,
    *,
    salt: bytes,
    fingerprint_key: bytes,
    fingerprint: bytes,
    folder: Path | None = None,
    threads: int | None = None,
    memory: str | None = None,
) -> NDArray[np.int64]:
    """Read the data, once: the exact answer in lattice steps, shape ``(dimension,)``.

    The same bits for the same file, specs and ``salt`` (the dataset version's secret),
    whatever the number of ``threads``.  Raises ``SourceChanged`` unless the file is, before
    and after it is read, the one whose ``fingerprint`` was registered.
    """
    statistic = interpret(dataset, query)
    file = _registered(dataset, folder)
    before = source_file.check_unchanged(file, fingerprint_key, fingerprint)
    try:
        return _read(dataset, statistic, file, salt, threads, memory)
    finally:
        # Also after an error, which a file that changed explains best.
        source_file.check_untouched(file, fingerprint_key, before)


def _read(
    dataset: DatasetSpec,
    statistic: Plan,
    file: source_file.SourceFile,
    salt: bytes,
    threads: int | None,
    memory: str | None,
) -> NDArray[np.int64]:
    from penstock.connectors import duckdb_source

    names = source_file.column_names(file)
    source_file.check_columns(dataset, names)
    require_conformance(file.format)
    return duckdb_source.run(
        statement(statistic), statistic, file, names, salt, threads=threads, memory=memory
    )


def _registered(dataset: DatasetSpec, folder: Path | None) -> source_file.SourceFile:
    try:
        return source_file.locate(dataset, folder)
    except InvalidInput:
        raise source_file.vanished() from None
