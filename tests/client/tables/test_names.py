"""Test the names of derived columns."""

import pytest

from penstock_client import InvalidArgument, col
from penstock_client.tables.names import Names


def test_an_expression_without_a_name_gets_the_one_that_it_is_written_with() -> None:
    names = Names("survey", ["a", "b"], {})
    assert names.name_of(col("a")) == "a"
    assert names.derived == {}
    assert names.name_of(col("a") + col("b")) == "a + b"
    assert names.name_of(col("a") + col("b")) == "a + b"
    assert names.derived == {"a + b": {"add": [{"column": "a"}, {"column": "b"}]}}


def test_an_expression_that_was_added_keeps_its_name_and_unused_ones_stay_away() -> None:
    added = {"total": col("a") + col("b"), "unused": col("a") * 2}
    names = Names("survey", ["a", "b"], added)
    assert names.name_of(col("a") + col("b")) == "total"
    assert names.name_of(col("total")) == "total"
    assert list(names.derived) == ["total"]


def test_a_name_that_is_taken_is_changed() -> None:
    names = Names("survey", ["a", "b", "a + b"], {})
    assert names.name_of(col("a") + col("b")) == "a + b'"


def test_an_unknown_column_is_refused_with_those_that_are_known() -> None:
    names = Names("survey", ["age", "area"], {})
    with pytest.raises(InvalidArgument, match=r"no column 'aeg'\. Is it 'age'\?"):
        names.name_of(col("aeg") + 1)
    with pytest.raises(InvalidArgument, match="Its columns: age, area"):
        names.require(col("zzz"))
