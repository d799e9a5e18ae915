"""Test the tables of declared keys, and which columns are read."""

import math

from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.statements.declared import columns_of, groupings, keys_of


def test_each_grouping_has_a_table_in_the_order_of_the_query() -> None:
    query = query_of(group_by=[{"column": "ward"}, {"column": "age", "bins": [0, 18, 65]}])
    wards, ages = groupings(interpret(dataset_of(), query)).items()
    assert (wards[0], dict(keys_of(wards[1]))) == (
        "keys_0",
        {"value": ("a", "b", "c"), "position": (0, 1, 2)},
    )
    assert (ages[0], dict(keys_of(ages[1]))) == (
        "keys_1",
        {
            "lower": (0.0, 18.0),
            "upper": (18.0, math.nextafter(65.0, math.inf)),
            "position": (0, 1),
        },
    )


def test_categories_whose_rows_are_left_out_have_a_table_too() -> None:
    query = query_of({"type": "uncategorized", "column": "ward"})
    assert list(groupings(interpret(dataset_of(), query))) == ["taken"]


def test_a_column_is_read_once_in_the_order_of_names() -> None:
    query = query_of(
        {"type": "sum", "column": "cost"},
        group_by=[{"column": "ward"}],
        where=[{"column": "cost", "op": ">", "value": 1}],
    )
    assert list(columns_of(interpret(dataset_of(), query))) == ["cost", "person", "ward"]
