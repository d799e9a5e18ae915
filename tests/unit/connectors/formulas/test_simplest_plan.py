"""Test which parts of a plan are put in other words, and that what says nothing else is kept."""

from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.formulas.simplest_plan import simplest_plan
from penstock.connectors.planning.interpret import interpret

AGE = {"column": "age"}


def test_a_plan_of_declared_columns_without_conditions_is_its_own() -> None:
    plan = interpret(dataset_of(), query_of(group_by=["ward"]))
    assert simplest_plan(plan) is plan


def test_a_cell_that_is_cut_is_that_of_its_column_where_it_counts_the_same() -> None:
    derived = {"x": AGE}

    def column(**parts: object) -> object:
        plan = simplest_plan(interpret(dataset_of(), query_of(derived=derived, **parts)))
        of = plan.summand or plan.bins or (plan.factors or plan.groupings)[0]
        return of.column.name

    assert column(aggregate={"type": "sum", "column": "x"}) == "age"
    assert column(aggregate={"type": "mean", "column": "x", "upper": 60}) == "age"
    assert column(aggregate={"type": "sum", "column": "x", "upper": 500}) == ""
    narrow = {"type": "quantiles", "column": "x", "bins": 4, "upper": 100}
    assert column(aggregate=narrow) == "age"
    assert column(aggregate={**narrow, "upper": 200}) == ""
    # A cell of 130 is cut to 120, which is in the last bin, and not beyond it.
    assert column(group_by=[{"column": "x", "bins": [0, 60, 120]}]) == ""
    assert column(group_by=[{"column": "x", "bins": [18, 60, 110]}]) == "age"
