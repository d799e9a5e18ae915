"""Prepare a query from two specs, without data; then read the data for its answer.

``prepare`` interprets a spec once, as one ``Statement``.  Its text is
recorded, and ``answer``, the one place where data are read, runs it.  Later on
``recorded`` returns the statement with the recorded text if the template has changed since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from penstock.connectors.binned import edges
from penstock.connectors.binned.quantiles import Quantiles
from penstock.connectors.choice import connector_of
from penstock.connectors.connector import ExactAnswer
from penstock.connectors.formulas.derived_columns import with_derived
from penstock.connectors.formulas.simplest_plan import simplest_plan
from penstock.connectors.planning.canonical import canonical_hash
from penstock.connectors.planning.correlated_counts import Nodes
from penstock.connectors.planning.domain import Key
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.moments.grid import planned
from penstock.connectors.planning.moments.weights import weighted
from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress, silent
from penstock.connectors.sources import ANYWHERE, Sources
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.specs.moments import Moments, Regression
from penstock.connectors.specs.schema import check_schema
from penstock.connectors.specs.sources import VECTORS, is_table, require_engine
from penstock.connectors.statements.statement import Statement, sha256_of
from penstock.privacy.neighboring import NeighboringRelation
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.factorization.kronecker import Workload
from penstock.structures.marginals.lattice import Marginals

Declared = TypeVar("Declared", bound=DatasetSpec)


@dataclass(frozen=True)
class PreparedQuery:
    """Hold everything that is fixed before an answer exists.

    ``keys`` is None for a pushed vector without keys (they are 0, 1, 2 ...).  ``dimension`` is how
    many numbers the vector has: one for each key, for a mean the centered sums of all keys and then
    all weighted counts.  ``step`` is the value of one lattice step, ``bound`` the largest absolute
    value, ``sensitivity`` in units of the values. ``statement`` is recorded and run; only computed
    queries have it and a canonical hash, and beside this the hash of conditions as they are
    spelled, which earlier versions stored; only means have ``mean_bounds`` (see ``Plan``).  Moments
    and regressions have ``moments``, the aggregate with the bounds, the grid and the weights that
    are planned, and quantiles have ``quantiles``, likewise with the bins.

    For counts that are protected together the vector holds their ``nodes``, and ``keys`` belong to
    the counts that are computed from it; so it is with the tables of ``marginals``.  That of a
    ``workload`` has its nodes, to which ``keys`` belong.  Sparse histograms have no ``keys``; their
    ``dimension`` is the number of keys that may differ between neighbors.
    """

    keys: Sequence[Key] | None
    dimension: int
    step: Fraction
    bound: Fraction
    sensitivity: Sensitivity
    statement: Statement | None = None
    canonical_hash: str | None = None
    spelled_hash: str | None = None
    mean_bounds: tuple[Fraction, Fraction] | None = None
    nodes: Nodes | None = None
    moments: Moments | Regression | None = None
    quantiles: Quantiles | None = None
    marginals: Marginals | None = None
    workload: Workload | None = None


def prepare(
    dataset: DatasetSpec,
    request: ComputedQuery,
    *,
    version: int,
    mechanism: str,
    declaration: int | None = None,
) -> PreparedQuery:
    """Derive keys, range, sensitivity, statement and hashes; no file is touched.

    ``version`` is the dataset's, ``mechanism`` the name of the noise process, ``declaration``
    the number of the dataset's declaration, null for the first.  Raises
    ``InvalidInput`` with the pointer of what is not valid.
    """
    request = _weighted(request, mechanism)
    plan = interpret(dataset, request)
    opened = plan.open_keys is not None
    named, simplest = (dataset.name, version, mechanism, declaration), simplest_plan(plan)
    spelled = canonical_hash(plan, *named)
    return PreparedQuery(
        keys=None if opened else plan.domain,
        dimension=_changed(dataset, plan) if opened else plan.dimension,
        step=plan.step,
        bound=plan.largest * plan.step,
        sensitivity=plan.moved(dataset.neighboring).in_units(plan.step),
        statement=connector_of(dataset).statement(plan),
        canonical_hash=spelled if simplest is plan else canonical_hash(simplest, *named),
        spelled_hash=spelled,
        mean_bounds=plan.mean_bounds,
        nodes=plan.nodes,
        moments=_moments(dataset, request, plan),
        quantiles=_quantiles(dataset, request),
        marginals=plan.marginals,
        workload=plan.workload,
    )


def _weighted(request: ComputedQuery, mechanism: str) -> ComputedQuery:
    """Return a query whose moments have the weights that are chosen for them."""
    if not isinstance(request.aggregate, Moments | Regression):
        return request
    return request.model_copy(update={"aggregate": weighted(request.aggregate, mechanism)})


def _moments(
    dataset: DatasetSpec, request: ComputedQuery, plan: Plan
) -> Moments | Regression | None:
    if not isinstance(request.aggregate, Moments | Regression):
        return None
    columns = with_derived(dataset, request.derived)
    return planned(columns, request.aggregate, plan.max_rows)


def _quantiles(dataset: DatasetSpec, request: ComputedQuery) -> Quantiles | None:
    if not isinstance(request.aggregate, Quantiles):
        return None
    return edges.planned(with_derived(dataset, request.derived), request.aggregate)


def _changed(dataset: DatasetSpec, plan: Plan) -> int:
    """Return how many keys one unit may change."""
    units = 2 if dataset.neighboring is NeighboringRelation.REPLACE else 1
    return min(units * plan.max_groups, plan.keys)


def recorded(
    dataset: DatasetSpec, written: Statement, text: str, sources: Sources = ANYWHERE
) -> Statement | None:
    """Return the statement that runs a text of another version; ``None`` if it cannot be run.

    ``written`` is what this version makes of the same spec; its plan decodes the rows.  The text is
    tried first (``Connector.fits``); no data are read.
    """
    older = replace(written, text=text, sha256=sha256_of(text))
    return older if connector_of(dataset, sources).fits(dataset, older) else None


def check_source(dataset: DatasetSpec, sources: Sources = ANYWHERE) -> None:
    """Check a dataset before it is registered: its spec, and the columns of its source.

    Raises ``InvalidInput``, which depends on names and types of columns, the file's format and the
    spec alone, and ``Unavailable`` for an engine that computes wrong answers.
    """
    check_schema(dataset)
    require_engine(dataset)
    if dataset.source.engine != VECTORS:
        connector_of(dataset, sources).check(dataset)


def pinned(dataset: Declared, sources: Sources = ANYWHERE) -> Declared:
    """Return the dataset with the version that a table in a bucket has now, if it names none.

    It is registered with this version, and read at it ever after.  Raises as ``check_source`` does.
    """
    if not is_table(dataset.source):
        return dataset
    check_schema(dataset)
    require_engine(dataset)
    from penstock.connectors.duckdb.lakes import Lakes

    source = dataset.source.model_copy(update={"uri": Lakes(sources).pinned(dataset)})
    return dataset.model_copy(update={"source": source})


def fingerprint(
    dataset: DatasetSpec, key: bytes, sources: Sources = ANYWHERE, progress: Progress = silent
) -> bytes:
    """Return the HMAC-SHA256 of the dataset's source under ``key``, 32 bytes.

    It is fixed at registration.  Raises ``InvalidInput`` if there is no such source,
    ``SourceChanged`` if it changes while it is read.
    """
    return connector_of(dataset, sources).fingerprint(dataset, key, progress)


def check_registered(
    dataset: DatasetSpec,
    *,
    fingerprint_key: bytes,
    fingerprint: bytes,
    sources: Sources = ANYWHERE,
    progress: Progress = silent,
) -> None:
    """Raise ``SourceChanged`` unless the source is there and is the one that was registered."""
    connector = connector_of(dataset, sources)
    connector.check_registered(dataset, fingerprint_key, fingerprint, progress)


def answer(
    dataset: DatasetSpec,
    statement: Statement,
    *,
    salt: bytes,
    fingerprint_key: bytes,
    fingerprint: bytes,
    sources: Sources = ANYWHERE,
    progress: Progress = silent,
) -> ExactAnswer:
    """Read the data, once, with a statement: the answer in lattice steps, ``(dimension,)``.

    With it comes the name of the state of the rows that was read, if the engine has one.  The
    answer of a sparse histogram has the ranks of the keys in the data, and then their counts.
    The answer has the same bits for the same data, statement and ``salt`` (the dataset version's
    secret), with any engine.  ``progress`` receives the stages.  Raises ``SourceChanged`` unless
    the source is, before and after it is read, the one whose ``fingerprint`` was registered.
    """
    connector = connector_of(dataset, sources)
    return connector.answer(dataset, statement, salt, fingerprint_key, fingerprint, progress)
