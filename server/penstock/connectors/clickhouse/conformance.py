"""Ask a ClickHouse the questions with known answers, before it reads any data."""

from typing import Final

import pyarrow as pa

from penstock.connectors.clickhouse.dialect import ClickHouse
from penstock.connectors.clickhouse.relations import TYPES, relations_of, source_of, surrounded
from penstock.connectors.clickhouse.session import Session
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
from penstock.errors import SourceChanged, Unavailable

_ROWS: Final = "penstock_questions"
_KINDS: Final = {name: column["type"] for name, column in COLUMNS.items()}

PASSED: Final[set[tuple[str, str]]] = set()
"""The addresses and versions whose answers were right; they are not asked again."""


def require_conformance(session: Session, address: str) -> None:
    """Raise ``Unavailable`` unless ClickHouse gives the right answers about rows of our own."""
    version = session.version
    if (address, version) in PASSED:
        return
    different = differences(session)
    if different:
        raise Unavailable(
            f"ClickHouse {version} answers the conformance probe incorrectly"
            f" ({', '.join(different)}), so no data are read with it."
        )
    PASSED.add((address, version))


def differences(session: Session) -> list[str]:
    """Return the names of the questions with a wrong answer."""
    return [
        question.name
        for question in (*QUESTIONS, *OPEN_QUESTIONS)
        if not is_right(session, question, statement(question.plan, ClickHouse()))
    ]


def is_right(session: Session, question: Question, written: Statement) -> bool:
    """Return True if ClickHouse answers a question rightly with this statement."""
    types = {
        name: f"Nullable({'Date32' if kind == 'date' else TYPES[kind]})"
        for name, kind in _KINDS.items()
    }
    rows = pa.table(
        {name: pa.array(cells, arrow_type(_KINDS[name])) for name, cells in typed_rows().items()}
    )
    structure = ", ".join(f"{name} {kind}" for name, kind in types.items())
    relations = {**relations_of(written, SALT), _ROWS: (structure, rows)}
    source = source_of(question.plan, _ROWS, types)
    try:
        table = session.table(surrounded(written, source), relations)
        answer = decoded(
            written, {name: table.column(name).to_numpy() for name in table.column_names}
        )
    except (SourceChanged, RuntimeError, KeyError):
        return False
    return question.is_answered_by(answer)
