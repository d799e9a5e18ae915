"""Test what a plan says of its answer: how many numbers it has, their keys and their unit."""

from fractions import Fraction

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Grouping


def test_the_last_bin_is_closed_above() -> None:
    ages = Grouping(Column("age", "integer", None), edges=(0.0, 18.0, 65.0))
    assert (len(ages), ages.labels) == (2, ("[0, 18)", "[18, 65]"))


@pytest.mark.parametrize(
    ("aggregate", "dimension", "step"),
    [
        ({"type": "count"}, 3, Fraction(1)),
        ({"type": "count_units"}, 3, Fraction(1)),
        ({"type": "sum", "column": "cost"}, 3, Fraction(1, 2)),
        ({"type": "mean", "column": "cost"}, 6, Fraction(1, 4)),
    ],
)
def test_a_mean_has_two_numbers_a_key_and_counts_half_steps(
    aggregate: dict[str, str], dimension: int, step: Fraction
) -> None:
    plan = interpret(dataset_of(), query_of(aggregate, group_by=[{"column": "ward"}]))
    assert (plan.keys, plan.dimension, plan.step) == (3, dimension, step)
    assert list(plan.domain) == ["a", "b", "c"]
    assert (plan.mean_bounds is None) == (aggregate["type"] != "mean")


def test_every_column_that_is_read_is_listed_once() -> None:
    late = {"column": "age", "op": ">=", "value": 60}
    plan = interpret(dataset_of(), query_of({"type": "sum", "column": "age"}, where=[late, late]))
    assert [column.name for column in plan.columns] == ["age"]


def test_the_limits_of_a_plan_are_those_that_can_bind() -> None:
    plan = interpret(dataset_of(), query_of(group_by=[{"column": "urgent"}]))
    assert (plan.keys, plan.max_groups) == (2, 2)
    alone = interpret(dataset_of(), query_of())
    assert (alone.keys, alone.max_groups) == (1, 1)
