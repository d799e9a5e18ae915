"""Test answers whose fields are read as lomas's notebooks read them."""

import pytest

from penstock_client.lomas.answers import Answer, budget


def test_a_field_is_read_by_attribute_and_by_item() -> None:
    answer = Answer(epsilon=0.5, result=Answer(df=[1]))
    assert answer.epsilon == answer["epsilon"] == 0.5
    assert answer.result.df == answer["result"]["df"] == [1]
    with pytest.raises(AttributeError, match="no field 'value'; its fields: epsilon, result"):
        _ = answer.value


def test_a_budget_has_the_names_of_every_version_of_lomas() -> None:
    spent = budget("total_spent", 0.5, 1e-6)
    assert spent.total_spent_epsilon == spent.epsilon == spent["total_spent_epsilon"] == 0.5
    assert spent.total_spent_delta == spent.delta == 1e-6
