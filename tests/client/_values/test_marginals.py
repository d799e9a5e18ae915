"""Test that marginals are read as the server sends them."""

import pytest

from penstock_client import Marginal, ProtocolError
from penstock_client._http.fields import Fields

CELL = {"key": ["a", "true"], "value": 4.25, "standard_deviation": 1.5, "reported": None}
SENT = {"columns": ["ward", "urgent"], "cells": [CELL, {**CELL, "key": ["b", "true"]}]}


def test_each_table_has_its_cells_by_key() -> None:
    [table] = Marginal.read_all(Fields({"marginals": [SENT]}, "release"))
    assert table.columns == ("ward", "urgent")
    assert table.values == {("a", "true"): 4.25, ("b", "true"): 4.25}
    assert table.standard_deviation == 1.5
    assert table.reported == {}


def test_reported_cells_are_beside_the_raw_ones() -> None:
    cells = [{**CELL, "reported": 4.0}]
    [table] = Marginal.read_all(Fields({"marginals": [{**SENT, "cells": cells}]}, "release"))
    assert table.reported == {("a", "true"): 4.0}
    assert table.values == {("a", "true"): 4.25}


@pytest.mark.parametrize("answer", [{}, {"marginals": None}])
def test_a_release_of_anything_else_has_none(answer: dict[str, object]) -> None:
    assert Marginal.read_all(Fields(answer, "release")) == ()


def test_a_cell_that_is_no_number_is_refused() -> None:
    cells = [{**CELL, "value": "many"}]
    with pytest.raises(ProtocolError, match=r"value"):
        Marginal.read_all(Fields({"marginals": [{**SENT, "cells": cells}]}, "release"))
