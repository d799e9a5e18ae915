"""Ask a PostgreSQL server the questions with known answers, before it reads any data."""

import functools

from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.postgresql.relations import rows_source, surrounded
from penstock.connectors.postgresql.session import Session
from penstock.connectors.postgresql.views import View
from penstock.connectors.specs.cells import Cell
from penstock.connectors.specs.models import ColumnType
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

_passed: set[tuple[str | None, str, str]] = set()
"""The databases and versions of servers that gave the right answers to this process."""


def require_conformance(session: Session, version: str) -> None:
    """Raise ``Unavailable`` unless the server gives the right answers about rows of our own."""
    different = [
        question.name
        for question, written in _statements()
        if not is_right(session, question, written)
    ]
    if different:
        raise Unavailable(
            f"PostgreSQL {version} answers the conformance probe incorrectly"
            f" ({', '.join(different)}), so no data are read with it."
        )


def require_once(session: Session, view: View) -> None:
    """Raise as ``require_conformance``; what passed is not asked again in this process."""
    server = (view.system, view.database, view.version)
    if server not in _passed:
        require_conformance(session, view.version)
        _passed.add(server)


@functools.cache
def _statements() -> tuple[tuple[Question, Statement], ...]:
    return tuple(
        (question, statement(question.plan, PostgreSQL()))
        for question in (*QUESTIONS, *OPEN_QUESTIONS)
    )


def is_right(session: Session, question: Question, written: Statement) -> bool:
    """Return True if the server answers a question rightly with this statement."""
    columns: dict[str, tuple[ColumnType, list[Cell | None]]] = {
        name: (COLUMNS[name]["type"], cells) for name, cells in typed_rows().items()
    }
    source, rows = rows_source(columns, first=1 if question.plan.unit is None else 2)
    text, parameters = surrounded(written, source, SALT, rows)
    table = session.table(text, parameters)
    answer = decoded(written, {name: table.column(name).to_numpy() for name in table.column_names})
    return question.is_answered_by(answer)
