"""Test that the known answers follow from the rows, in each of the forms that engines read."""

import pytest
from tests.unit.connectors.open_reference import answer as meant_of_open_keys
from tests.unit.connectors.reference import answer as meant

from penstock.connectors.statements.questions import (
    NAMES,
    OPEN_QUESTIONS,
    QUESTIONS,
    ROWS,
    SALT,
    Question,
    typed_rows,
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_known_answers_are_what_the_rows_mean(question: Question) -> None:
    rows = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    assert question.answer == tuple(meant(question.plan, rows, SALT))


@pytest.mark.parametrize("question", OPEN_QUESTIONS, ids=lambda question: question.name)
def test_the_known_keys_are_those_of_the_rows(question: Question) -> None:
    rows = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    found = meant_of_open_keys(question.plan, rows, SALT)
    ranks = sorted(found)
    assert question.answer == (*ranks, *(found[rank] for rank in ranks))


def test_typed_rows_are_the_rows_without_what_is_not_of_its_type() -> None:
    columns = typed_rows()
    assert [len(column) for column in columns.values()] == [len(ROWS)] * len(NAMES)
    assert columns["age"][4:10] == [-7, 30, 30, None, None, 0]
    assert columns["urgent"][6] is None
    assert columns["day"][3:5] == [None, None]
    assert str(columns["cost"][6:8]) == "[nan, inf]"
    assert columns["ward"] == [row[1] for row in ROWS]
