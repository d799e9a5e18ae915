"""Test the sentence of every kind of query, of streams and of datasets."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of
from tests.unit.sentences.specs import COMPUTED, PERSON, VECTORS

from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import _AGGREGATES, ComputedQuery, VectorSpec
from penstock.connectors.sql.reading import read
from penstock.sentences import definitions
from penstock.sentences.words import LONGEST_PHRASE

CLASSES: dict[object, type[ComputedQuery]] = {
    "correlated": CorrelatedQuery,
    "sparse_histogram": HistogramQuery,
}
STREAM = {
    "length": 365,
    "dimension": 1,
    "step": 1,
    "bound": 100,
    "sensitivity": {"l1": 1, "l2": None, "linf": None},
    "max_steps_per_unit": 1,
}


@pytest.mark.parametrize(
    ("spec", "unit", "sentence"),
    COMPUTED,
    ids=[f"{place}-{spec['aggregate']['type']}" for place, (spec, _, _) in enumerate(COMPUTED)],
)
def test_a_computed_query_has_its_sentence(
    spec: dict[str, Any], unit: object, sentence: str
) -> None:
    kind = CLASSES.get(spec.get("structure"), ComputedQuery)
    stored = kind.model_validate({"name": "q", "dataset": "d", **spec}).model_dump(mode="json")
    assert definitions.of_query(stored, unit) == sentence  # type: ignore[arg-type]


def test_every_kind_of_aggregate_and_structure_has_a_sentence_here() -> None:
    assert {spec["aggregate"]["type"] for spec, _, _ in COMPUTED} == set(_AGGREGATES)
    assert set(CLASSES) <= {spec.get("structure") for spec, _, _ in COMPUTED}


@pytest.mark.parametrize(("spec", "unit", "sentence"), VECTORS, ids=["named", "unnamed"])
def test_a_pushed_vector_has_its_sentence(spec: dict[str, Any], unit: Any, sentence: str) -> None:
    stored = VectorSpec.model_validate({"name": "q", "dataset": "d", **spec})
    assert definitions.of_query(stored.model_dump(mode="json"), unit) == sentence


def test_a_query_in_sql_has_the_sentence_of_its_spec() -> None:
    fields = read(
        "SELECT ward, COUNT(DISTINCT person) FROM visits WHERE age >= 18 GROUP BY ward",
        dataset_of(),
    )
    query = {"name": "q", "dataset": "d", "contribution": {"max_groups": 1}, **fields}
    stored = ComputedQuery.model_validate(query).model_dump(mode="json")
    assert definitions.of_query(stored, {"column": "person"}) == (
        "Number of people by ward where age is at least 18; each person counts in at most 1 ward"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            (
                "Running totals of a stream of at most 365 numbers, in steps of 1 from -100 to 100,"
                " kept by a binary tree; each person is in at most 1 of them and changes each by at"
                " most 1 in all"
            ),
        ),
        (
            {"length": None, "dimension": 3, "max_steps_per_unit": 7, "sensitivity": {"l1": 1}},
            (
                "Running totals of a stream of rows of 3 numbers without an end, in steps of 1 from"
                " -100 to 100, kept by a binary tree; each person is in at most 7 of them and"
                " changes each by at most 1 in all"
            ),
        ),
    ],
    ids=["ends", "endless"],
)
def test_a_stream_has_its_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert definitions.of_stream({**STREAM, **changes}, {"kind": "kary", "k": 2}, PERSON) == (
        sentence
    )


def test_a_dataset_has_its_sentence() -> None:
    assert definitions.of_dataset(dataset_of().model_dump(mode="json")) == (
        "6 declared columns read by duckdb; hides whether any one person (column person) was added"
        " or removed"
    )
    vectors = {"source": {"engine": "vector"}, "privacy_unit": "event", "neighboring": "replace"}
    assert definitions.of_dataset(vectors) == (
        "Vectors that are sent; hides whether any one event was replaced by another"
    )


def test_a_long_sentence_is_shortened_and_still_tells_specs_apart() -> None:
    def sentence(last: int) -> str:
        values = [*range(10_000, 11_000), last]
        where = [{"column": "age", "op": "in", "value": values}]
        return definitions.of_query({"aggregate": {"type": "count"}, "where": where}, PERSON)

    assert sentence(1) != sentence(2)
    assert len(sentence(1)) < LONGEST_PHRASE


def test_a_stream_without_what_it_leaves_out_has_its_sentence() -> None:
    sentence = definitions.of_stream({}, {"kind": "kary", "k": 2}, "event")
    assert "numbers without an end" in sentence
    assert "each event is in at most 1 of them" in sentence


@pytest.mark.parametrize(
    ("stored", "written"), [(1.4951171875, "1.4951"), (2.0, "2"), (0.5, "0.5")]
)
def test_a_trade_off_has_the_digits_that_tell_planned_ones_apart(
    stored: float, written: str
) -> None:
    spec = {
        "aggregate": {"type": "count_units", "columns": ["smoker", "insured"]},
        "structure": "correlated",
        "trade_off": stored,
    }
    sentence = definitions.of_query(spec, PERSON)
    assert sentence.endswith(f"; the counts are protected together, with the trade-off {written}")


def test_no_two_planned_trade_offs_are_written_alike() -> None:
    planned = [definitions._trade_off(weight / 4096) for weight in range(1, 20_000)]
    assert len(set(planned)) == len(planned)
