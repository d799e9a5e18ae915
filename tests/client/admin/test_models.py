"""Test that answers that the contract does not allow are refused."""

from typing import Any

import pytest
from tests.client.admin.conftest import ANSWERS

from penstock_client import ProtocolError
from penstock_client._http.fields import Fields

REQUIRED = [
    (model, name)
    for model, answer in ANSWERS
    for name, value in answer.items()
    if value is not None and not isinstance(value, bool)
]


@pytest.mark.parametrize(
    ("model", "name"), REQUIRED, ids=[f"{model.__name__}-{name}" for model, name in REQUIRED]
)
def test_a_field_of_another_type_is_refused(model: Any, name: str) -> None:
    answer = next(answer for each, answer in ANSWERS if each is model)
    assert model.read(Fields(answer, "answer"))
    with pytest.raises(ProtocolError, match=name):
        model.read(Fields({**answer, name: True}, "answer"))
