"""Test that a server with other answers than the known ones reads no data."""

import re

import pytest
from tests.databases.warehouse import Warehouse
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.planning.prepare import check_source
from penstock.connectors.postgresql import conformance
from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.postgresql.session import reading
from penstock.connectors.postgresql.views import view_of
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.questions import OPEN_QUESTIONS, QUESTIONS
from penstock.connectors.statements.statement import Statement
from penstock.connectors.statements.template import statement
from penstock.errors import Unavailable

OTHERWISE = {
    "halves are rounded to even": (
        r"(?s)CAST\(floor\((\s*least.*?) \+ CAST\('0\.5' AS DOUBLE PRECISION\)",
        r"CAST(round(\1",
    ),
    "infinity is a number": (r"abs\((\"\w+\")\) < CAST\('Infinity'", r"\1 <= CAST('Infinity'"),
    "another hash": (r"md5\(", "md5('x' || "),
    "lengths in bytes": (r"length\(", "octet_length("),
    "sums are not clamped": (
        r"least\(greatest\(sum\(\"value\"\), CAST\(-4 AS NUMERIC\)\), CAST\(8 AS NUMERIC\)\)",
        'sum("value")',
    ),
    "quotients are rounded": (r"div\(", "pg_catalog.div(1 + "),
    "nothing is nobody": (r'NOT "typed"\."unit" IS NULL', "TRUE"),
    "the last bin is open": (r'< "keys_1"\."upper"', '< least("keys_1"."upper", 120)'),
    "texts have no case": (r'"person" AS', 'lower("person") AS'),
}


def test_a_server_answers_as_it_should_and_is_asked_at_each_registration(
    warehouse: Warehouse, visits: DatasetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reading(warehouse.address) as session:
        view = view_of(session, visits)
        conformance.require_once(session, view)
        seen: list[object] = []

        def counted(*given: object) -> bool:
            seen.append(given)
            return True

        monkeypatch.setattr(conformance, "is_right", counted)
        conformance.require_once(session, view)
        assert seen == []
        conformance.require_conformance(session, view.version)
        assert len(seen) == len((*QUESTIONS, *OPEN_QUESTIONS))


@pytest.mark.parametrize("way", OTHERWISE)
def test_a_server_that_computes_otherwise_is_found_out(warehouse: Warehouse, way: str) -> None:
    changed, wrong = [], []
    with reading(warehouse.address) as session:
        for question in (*QUESTIONS, *OPEN_QUESTIONS):
            written = statement(question.plan, PostgreSQL())
            text = re.sub(*OTHERWISE[way], written.text)
            if text == written.text:
                continue
            changed.append(question.name)
            other = Statement(written.plan, text, "", written.columns)
            if not conformance.is_right(session, question, other):
                wrong.append(question.name)
    assert changed
    assert wrong


def test_a_refused_server_registers_none(
    warehouse: Warehouse, visits: DatasetSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "is_right", lambda *_: False)
    with pytest.raises(Unavailable, match="no data are read with it"):
        check_source(visits, warehouse.sources)
    assert dataset_of() != visits
