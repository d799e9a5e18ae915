"""From a spec to reviewed SQL to an exact integer vector with a derived sensitivity.

::

    specs       what may be asked: strict models, shapes only
    schema      whether a dataset's spec agrees with itself
    correlated_specs counts that are protected together
    histogram_specs  counts over keys that nobody can list
    plan        one statistic in one form
    open_keys   what such keys mean on a dataset
    correlated_counts   what takes the place of such counts
    interpret   what a query means on its dataset
    domain      the keys of an answer, declared
    sensitivity how far one unit can move an answer
    canonical   one statistic, one hash
    sql         the one template of the SQL
    source_file the file: its header, its fingerprint
    progress    being told how far its reading is
    parquet_cells   cells of Parquet that the engine refuses, read by themselves
    duckdb_source   DuckDB, locked down to that file
    conformance whether it computes what is meant
    alternatives    the ways in which the same counts may be protected
    prepare     all of it before data, and then ``answer``, which reads them
    vector      vectors that are pushed
    guess       the types that a file's format declares
    draft       a first draft of a dataset's file
    metadata    metadata of SmartNoise SQL and lomas, as a spec
    dummy       made-up rows of a declared schema
"""

from penstock.connectors.dummy import dummy_rows
from penstock.connectors.planning.alternatives import Alternative, alternatives
from penstock.connectors.planning.correlated_counts import Nodes, nodes_of
from penstock.connectors.planning.domain import Key
from penstock.connectors.planning.open_keys import Tally
from penstock.connectors.planning.prepare import (
    PreparedQuery,
    answer,
    check_registered,
    check_source,
    fingerprint,
    open_answer,
    prepare,
)
from penstock.connectors.planning.refusals import invalid_input, pointer
from penstock.connectors.progress import Progress, silent
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.fields import Name, Spec, folded
from penstock.connectors.specs.guess import guess_schema
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import (
    AggregateSpec,
    AssertedSensitivity,
    ColumnSpec,
    ComputedQuery,
    Condition,
    ContributionSpec,
    DatasetSpec,
    GroupBy,
    PrivacyUnitSpec,
    PushedVector,
    QuerySpec,
    SourceSpec,
    VectorSpec,
)
from penstock.connectors.vector import prepare_vector, vector_steps

__all__ = [
    "AggregateSpec",
    "Alternative",
    "AssertedSensitivity",
    "ColumnSpec",
    "ComputedQuery",
    "Condition",
    "ContributionSpec",
    "CorrelatedQuery",
    "DatasetSpec",
    "GroupBy",
    "HistogramQuery",
    "Key",
    "Name",
    "Nodes",
    "PreparedQuery",
    "PrivacyUnitSpec",
    "Progress",
    "PushedVector",
    "QuerySpec",
    "SourceSpec",
    "Spec",
    "Tally",
    "VectorSpec",
    "alternatives",
    "answer",
    "check_registered",
    "check_source",
    "dummy_rows",
    "fingerprint",
    "folded",
    "guess_schema",
    "invalid_input",
    "nodes_of",
    "open_answer",
    "pointer",
    "prepare",
    "prepare_vector",
    "silent",
    "vector_steps",
]
