"""Test that marginals are listed by table and reported in the forms that are named."""

import numpy as np
import pytest

from penstock.connectors.planning.domain import MarginalKeys, keys_of
from penstock.errors import InvalidInput
from penstock.services.noise.estimates.marginals import forms_of, marginals_of
from penstock.structures.marginals.reports import Form

KEYS = MarginalKeys(("ward", "urgent"), (("a", "b"), ("False", "True")), ((1,), (0, 1)))


def test_each_table_has_its_cells_in_the_order_of_the_keys() -> None:
    values = np.arange(6.0)
    first, second = marginals_of(KEYS, values, [1.5, 2.5])
    assert (first.columns, second.columns) == (["urgent"], ["ward", "urgent"])
    assert [cell.key for cell in first.cells] == [["False"], ["True"]]
    assert [cell.value for cell in second.cells] == [2, 3, 4, 5]
    assert {cell.standard_deviation for cell in second.cells} == {2.5}
    assert KEYS[:] == [
        *(["all", "False"], ["all", "True"]),
        *(["a", "False"], ["a", "True"], ["b", "False"], ["b", "True"]),
    ]
    assert KEYS[3] == ["a", "True"]
    assert len(KEYS) == 6


def test_keys_are_read_back_as_they_were_stored() -> None:
    assert keys_of(KEYS.stored()) == KEYS


def test_forms_are_named_with_commas_between() -> None:
    assert forms_of(None) == forms_of("") == []
    assert forms_of("whole, nonnegative") == [Form.NONNEGATIVE, Form.WHOLE]
    with pytest.raises(InvalidInput, match="nonnegative, whole, total_preserving"):
        forms_of("whole,round")
