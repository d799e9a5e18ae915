"""Test that ClickHouse answers as it should, and that one with other answers reads no data."""

import re
from dataclasses import replace

import pytest
from tests.databases.clickhouse import Tables

from penstock.connectors.clickhouse import conformance, embedded
from penstock.connectors.clickhouse.dialect import ClickHouse
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.clickhouse.session import SETTINGS, Session
from penstock.connectors.statements.questions import QUESTIONS
from penstock.connectors.statements.template import statement
from penstock.errors import Unavailable


def test_clickhouse_answers_as_it_should(folder: Tables) -> None:
    with reading(folder.address) as session:
        assert conformance.differences(session) == []


# What other engines, and other settings, make of the same text; and a question that tells.
OTHERWISE = {
    "halves are cut off": ("mean", r"\+ CAST\('0.5' AS Nullable\(Float64\)\)", ""),
    "infinity is a number": ("sum", r"isFinite\(", "toBool("),
    "text has no case": (
        "count_units",
        r"CAST\(\"person\" AS Nullable\(String\)\)",
        'lower("person")',
    ),
    "another hash": ("count", r"MD5\(", "SHA1("),
    "lengths in bytes": ("count", r"lengthUTF8\(", "length("),
}


def _rights(session: Session, name: str, pattern: str, instead: str) -> list[bool]:
    right = []
    for question in QUESTIONS:
        if question.name.startswith(name):
            written = statement(question.plan, ClickHouse())
            text = re.sub(pattern, instead, written.text)
            assert text != written.text
            right.append(conformance.is_right(session, question, replace(written, text=text)))
    return right


@pytest.mark.parametrize("way", OTHERWISE)
def test_a_clickhouse_that_computes_otherwise_is_found_out(folder: Tables, way: str) -> None:
    with reading(folder.address) as session:
        assert not all(_rights(session, *OTHERWISE[way]))


def test_other_settings_are_found_out(folder: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "SETTINGS", {**SETTINGS, "join_use_nulls": "0"})
    with reading(folder.address) as session:
        assert conformance.differences(session) == ["rows that no category takes"]


def test_a_refused_clickhouse_reads_no_data(
    folder: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", lambda _: ["sum"])
    with (
        reading(folder.address) as session,
        pytest.raises(Unavailable, match=r"\(sum\), so no data"),
    ):
        conformance.require_conformance(session, folder.address)


def test_a_clickhouse_that_passed_is_not_asked_again(
    folder: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Session] = []

    def differences(session: Session) -> list[str]:
        asked.append(session)
        return []

    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", differences)
    with reading(folder.address) as session:
        conformance.require_conformance(session, folder.address)
        conformance.require_conformance(session, folder.address)
        conformance.require_conformance(session, "chdb:///other")
    assert len(asked) == 2
