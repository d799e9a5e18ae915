"""Ask a Spark the questions with known answers, before it reads any data."""

from typing import Final

import pyarrow as pa

from penstock.connectors.spark.dialect import Spark
from penstock.connectors.spark.relations import declare
from penstock.connectors.spark.session import Session
from penstock.connectors.statements.declared import arrow_type
from penstock.connectors.statements.decoding import decoded
from penstock.connectors.statements.questions import (
    COLUMNS,
    OPEN_QUESTIONS,
    QUESTIONS,
    SALT,
    Question,
    typed_rows,
)
from penstock.connectors.statements.statement import Statement
from penstock.connectors.statements.template import statement
from penstock.errors import Unavailable

_ROWS: Final = "penstock_questions"

PASSED: Final[set[tuple[str, str]]] = set()
"""The addresses and versions whose answers were right; they are not asked again."""


def require_conformance(session: Session, address: str) -> None:
    """Raise ``Unavailable`` unless Spark gives the right answers about rows of our own."""
    version = session.version
    if (address, version) in PASSED:
        return
    different = differences(session)
    if different:
        raise Unavailable(
            f"Spark {version} answers the conformance probe incorrectly"
            f" ({', '.join(different)}), so no data are read with it."
        )
    PASSED.add((address, version))


def differences(session: Session) -> list[str]:
    """Return the names of the questions with a wrong answer."""
    types = declare_rows(session)
    return [
        question.name
        for question in (*QUESTIONS, *OPEN_QUESTIONS)
        if not is_right(session, question, statement(question.plan, Spark()), types)
    ]


def declare_rows(session: Session) -> dict[str, str]:
    """Make a relation of the questions' rows; return its columns' types."""
    columns = {
        name: pa.array(cells, arrow_type(COLUMNS[name]["type"]))
        for name, cells in typed_rows().items()
    }
    session.declare(_ROWS, pa.table(columns))
    return session.types(_ROWS) or {}


def is_right(
    session: Session, question: Question, written: Statement, types: dict[str, str]
) -> bool:
    """Return True if Spark answers a question rightly with this statement."""
    declare(session, written, SALT, _ROWS, types, reads=True)
    table = session.table(written.text)
    answer = decoded(written, {name: table.column(name).to_numpy() for name in table.column_names})
    return question.is_answered_by(answer)
