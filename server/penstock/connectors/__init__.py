"""Turn a spec into reviewed SQL, and that into an exact integer vector with its sensitivity.

* ``specs``     what may be asked: strict models, shapes only
* ``planning``  what a spec means on its dataset, known before any data are read
* ``duckdb``    the one template of the SQL, and the engine, locked down to one file
* ``vector``    vectors that are pushed
* ``columns``   the columns of a Parquet file
* ``dummy``     made-up rows of a declared schema
* ``progress``  being told how far the reading of data is
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
