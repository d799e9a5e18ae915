"""Test that the twenty questions of analysts go as their page says."""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from tests.support.places import ROOT

from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading, table_of
from penstock.errors import InvalidInput

PAGE = (ROOT / "server/penstock/connectors/sql/QUESTIONS.md").read_text()
DEMO = ROOT / "server/penstock/demo/dataset.json"
OF_SERVICES = ("budgets", "delta", "title", "description", "tags")


@dataclass(frozen=True)
class Statement:
    """Hold a statement of the page, and the message that follows it there, if any."""

    text: str
    message: str


def blocks(language: str, text: str) -> list[str]:
    """Return the blocks of code in a language."""
    return [part.split("\n```")[0] for part in text.split(f"```{language}\n")[1:]]


def statements(question: str) -> list[Statement]:
    """Return the statements of a question, in their order."""
    listed = []
    for part in question.split("```sql\n")[1:]:
        text, _, after = part.partition("\n```")
        quoted = [line.removeprefix("> ") for line in after.split("\n") if line.startswith("> ")]
        listed.append(Statement(text, " ".join(quoted)))
    return listed


def datasets() -> dict[str, DatasetSpec]:
    """Return the datasets of the questions by name."""
    sent: list[dict[str, Any]] = [json.loads(DEMO.read_text())]
    sent += map(json.loads, blocks("json", PAGE))
    read = (
        DatasetSpec.model_validate({name: each[name] for name in each if name not in OF_SERVICES})
        for each in sent
    )
    return {dataset.name: dataset for dataset in read}


QUESTIONS = [statements(part) for part in PAGE.split("\n### ")[1:]]
DATASETS = datasets()


def message_of(text: str) -> str:
    """Return the message with which a statement is refused; nothing for one that is read."""
    try:
        statement = parsed(text)
        reading(statement, DATASETS[table_of(statement)])
    except InvalidInput as error:
        return error.detail
    return ""


@pytest.mark.parametrize("number", range(1, 21))
def test_a_question_goes_as_the_page_says(number: int) -> None:
    for statement in QUESTIONS[number - 1]:
        assert message_of(statement.text) == statement.message
    assert QUESTIONS[number - 1][-1].message == ""


def test_the_page_has_twenty_questions_and_their_sum() -> None:
    assert len(QUESTIONS) == 20
    plain = sum(not statements[0].message for statements in QUESTIONS)
    assert f"As they were written, {plain} are answered" in PAGE


def test_no_statement_follows_one_that_answers_its_question() -> None:
    several = [number for number, listed in enumerate(QUESTIONS, 1) if read_twice(listed)]
    assert several == [7, 18]


def read_twice(listed: list[Statement]) -> bool:
    return any(not first.message and not second.message for first, second in pairwise(listed))
