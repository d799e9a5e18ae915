"""Test that PostgreSQL's own words are written, and none that depends on its locale."""

import pytest
import sqlglot
from sqlglot import exp

from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.statements.questions import OPEN_QUESTIONS, QUESTIONS, Question
from penstock.connectors.statements.template import statement

EVERY = (*QUESTIONS, *OPEN_QUESTIONS)


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.name)
def test_a_text_reads_back_as_one_select(question: Question) -> None:
    written = statement(question.plan, PostgreSQL())
    (read,) = sqlglot.parse(written.text, dialect="postgres")
    assert isinstance(read, exp.Select)
    assert tuple(read.named_selects) == written.returned
    for word in ("TRY_CAST", "HUGEINT", "DOUBLE)", "//", "$salt", "isfinite"):
        assert word not in written.text


def test_hashes_are_sorted_by_their_bytes() -> None:
    for question in EVERY:
        text = statement(question.plan, PostgreSQL()).text
        assert (
            text.count("md5(") == text.count('COLLATE "C"') == int(question.plan.unit is not None)
        )
