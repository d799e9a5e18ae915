"""Test which probabilities are read, and which are refused."""

import pytest
from pydantic import ValidationError

from penstock.connectors.binned.quantiles import QUARTILES, Quantiles, probabilities_in
from penstock.errors import InvalidInput


def asked(**fields: object) -> Quantiles:
    return Quantiles.model_validate({"type": "quantiles", "column": "age", **fields})


def test_one_probability_needs_no_list_and_several_are_sorted_once_each() -> None:
    assert asked(probabilities=0.5).probabilities == (0.5,)
    assert asked(probabilities=[0.9, 0.1, 0.9]).probabilities == (0.1, 0.9)
    assert asked().probabilities == QUARTILES


@pytest.mark.parametrize("wrong", [0, 1, [0.5, 1.0], [], [-0.1], "0.5", [True], None])
def test_what_is_no_probability_between_0_and_1_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        asked(probabilities=wrong)


def test_probabilities_are_read_from_a_text() -> None:
    assert probabilities_in(" 0.9, 0.1 ") == (0.1, 0.9)
    assert probabilities_in("") == ()
    for wrong in ("1", "0.5;0.6", "nan", "0.5,"):
        with pytest.raises(InvalidInput, match="above 0 and below 1"):
            probabilities_in(wrong)
