"""Provide a server that answers questions."""

import copy
from typing import Any

import pytest
from tests.client.questions.asking import ANSWERS


@pytest.fixture(autouse=True)
def _questions(answers: dict[str, Any]) -> None:
    answers |= copy.deepcopy(ANSWERS)
