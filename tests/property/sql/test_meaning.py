"""Test that what the server computes for a statement is what plain DuckDB computes for its text."""

import datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.property.sql.plain import ONE_ROW, plainly, table_of
from tests.property.sql.texts import COLUMNS, DATASET, rows, statements, text_of
from tests.support.thorough import by_count
from tests.unit.connectors.cases import Folder, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.moments.weights import weighted
from penstock.connectors.planning.plan import Plan
from penstock.connectors.planning.sensitivity import Measure
from penstock.connectors.specs.models import ComputedQuery
from penstock.connectors.specs.moments import Moments, Regression
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading
from penstock.connectors.sql.writing.statement import written


def labels_of(plan: Plan, key: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the labels of a group of plain DuckDB; None of one that is not declared."""
    found = []
    for grouping, value in zip(plan.groupings, key, strict=True):
        label = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, datetime.date):
            label = value.isoformat()
        if grouping.edges and isinstance(value, int):
            if not 1 <= value <= len(grouping):
                return None
            label = grouping.labels[value - 1]
        if grouping.edges and isinstance(value, float):
            edges = grouping.edges[:-1]
            label = grouping.labels[edges.index(value)] if value in edges else ""
        if value is None or label not in grouping.labels:
            return None
        found.append(label)
    return tuple(found)


def values_of(plan: Plan, steps: list[int]) -> dict[tuple[str, ...], list[Any]]:
    """Return by key what each aggregate of a statement is, by the server's exact answer."""
    keys = list(product(*(grouping.labels for grouping in plan.groupings)))
    size = len(steps) // len(keys)
    if plan.measure is Measure.MEAN:
        assert plan.summand is not None
        width = plan.summand.highest - plan.summand.lowest
        middle, step = (plan.summand.lowest + plan.summand.highest) / 2, float(plan.summand.step)
        counts = [total / width for total in steps[len(keys) :]]
        sums = zip(keys, steps, counts, strict=False)
        return {
            key: [(centered / 2 / count + middle) * step if count else 0.0]
            for key, centered, count in sums
        }
    if plan.factors:
        return {
            key: _moments(plan, steps[place * size : (place + 1) * size])
            for place, key in enumerate(keys)
        }
    if plan.bins is not None:
        return {
            key: [float(sum(steps[place * size : place * size + len(plan.bins)]))]
            for place, key in enumerate(keys)
        }
    numbers = [number * float(plan.step) for number in steps]
    return {key: numbers[place * size : (place + 1) * size] for place, key in enumerate(keys)}


def _moments(plan: Plan, numbers: list[int]) -> list[float]:
    """Return the count; of one column also its mean and variance, of two their covariance.

    Of order 1 it is followed by the sums, and by the mean of one column.
    """
    weights = plan.weights or (1,) * len(numbers)
    assert all(number % weight == 0 for number, weight in zip(numbers, weights, strict=True))
    numbers = [number // weight for number, weight in zip(numbers, weights, strict=True)]
    square = plan.grid**plan.order
    count = numbers[0] / square
    if not count:
        return [0.0]
    means = [number / numbers[0] for number in numbers[1 : 1 + len(plan.factors)]]
    if plan.order == 1:
        middles = [float(each.step) * (each.lowest + each.highest) / 2 for each in plan.factors]
        steps = [float(each.step) * plan.grid / 2 for each in plan.factors]
        means = [a + b * mean for a, b, mean in zip(middles, steps, means, strict=True)]
        return [count, *(count * mean for mean in means), *means[: len(means) == 1]]
    halves = [float(each.step) * plan.grid / 2 for each in plan.factors]
    middles = [float(each.step) * (each.lowest + each.highest) / 2 for each in plan.factors]
    if len(plan.factors) == 1:
        spread = numbers[2] / numbers[0] - means[0] ** 2
        return [count, middles[0] + halves[0] * means[0], halves[0] ** 2 * spread]
    spread = numbers[4] / numbers[0] - means[0] * means[1]
    return [count, halves[0] * halves[1] * spread]


def _weighted(query: ComputedQuery) -> ComputedQuery:
    """Return a query with the weights that its answer has under Gaussian noise."""
    if not isinstance(query.aggregate, Moments | Regression):
        return query
    return query.model_copy(update={"aggregate": weighted(query.aggregate, "gaussian")})


@settings(max_examples=by_count(100, 1500), deadline=None)
@given(cells=rows, statement=statements)
def test_a_statement_means_what_its_text_means(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[tuple[Any, ...]],
    statement: tuple[list[str], tuple[str, ...], str | None],
) -> None:
    groups = statement[0]
    text = text_of(*statement)
    table = table_of(cells)
    understood = reading(parsed(text), DATASET)
    assert all("ORDER BY is no part" in note for note in understood.notes)
    query = query_of(**{**understood.fields, "contribution": ONE_ROW})
    plan = interpret(DATASET, _weighted(query))
    folder = Folder(Path(tmp_path_factory.mktemp("files")))
    folder.parquet({name: table[name] for name in COLUMNS})
    computed = values_of(plan, folder.ask(DATASET, query).tolist())
    shown = written(query, DATASET)
    assert shown is not None
    for plain_text in (text, shown):
        plain: dict[tuple[str, ...], list[Any]] = {}
        for row in plainly(table, plain_text):
            labels = labels_of(plan, row[: len(groups)])
            if labels is not None:
                plain[labels] = list(row[len(groups) :])
        _require_equal(plan, computed, plain)


Answers = dict[tuple[str, ...], list[Any]]


def _require_equal(plan: Plan, computed: Answers, plain: Answers) -> None:
    """Compare by key; a declared key that plain DuckDB does not have has 0, or nothing."""
    for key, values in computed.items():
        expected = plain.get(key, [0] * len(values))
        if plan.bins is not None:
            # There is a median where there is a value.
            assert (values[0] > 0) == (expected[0] is not None and key in plain)
            continue
        if plan.factors and len(expected) > 3:
            continue  # the statement that is shown lists more
        whole = [0.0 if value is None else float(value) for value in expected]
        size = min(len(values), len(whole))  # of no rows there is a count alone
        scale = 0.5 if plan.factors else 1e-9
        assert values[:size] == pytest.approx(whole[:size], rel=1e-6, abs=scale)


@pytest.mark.parametrize(
    "note",
    [
        "SELECT COUNT(*), VAR_POP(age) FROM visits",
        "SELECT VAR_POP(cost), VAR_POP(age) FROM visits",
        "SELECT COUNT(*), MEDIAN(cost) FROM visits WHERE age > 3",
    ],
)
def test_a_statement_that_counts_other_rows_has_a_note(note: str) -> None:
    assert reading(parsed(note), DATASET).notes
