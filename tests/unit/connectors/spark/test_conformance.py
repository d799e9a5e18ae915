"""Test that Spark answers as it should, and that one with other answers reads no data."""

import re
from dataclasses import replace

import pytest
from tests.databases.spark import Cluster
from tests.databases.spark_connect import Server

from penstock.connectors.spark import conformance
from penstock.connectors.spark.dialect import Spark
from penstock.connectors.spark.session import Session, reading
from penstock.connectors.statements.questions import QUESTIONS
from penstock.connectors.statements.template import statement
from penstock.errors import Unavailable


def test_spark_answers_as_it_should(local: Cluster) -> None:
    with reading(local.address) as session:
        assert conformance.differences(session) == []


@pytest.mark.nightly
def test_spark_behind_a_server_answers_as_it_should(server: Server) -> None:
    with reading(server.address) as session:
        assert conformance.differences(session) == []


# What other engines, and other settings of Spark, make of the same text; and a question that tells.
OTHERWISE = {
    "halves are rounded away from zero": ("mean", r"floor\(", "round("),
    "infinity is a number": ("sum", r"abs\(`cost`\) < CAST\('Infinity' AS DOUBLE\)", "TRUE"),
    "text has no case": ("count_units", r"CAST\(`person` AS STRING\)", "lower(`person`)"),
    "another hash": ("count", r"md5\(", "sha1("),
    "lengths in bytes": ("count", r"char_length\(", "octet_length("),
}


@pytest.mark.parametrize("way", OTHERWISE)
def test_a_spark_that_computes_otherwise_is_found_out(local: Cluster, way: str) -> None:
    name, pattern, instead = OTHERWISE[way]
    with reading(local.address) as session:
        types = conformance.declare_rows(session)
        right = []
        for question in QUESTIONS:
            if question.name.startswith(name):
                written = statement(question.plan, Spark())
                text = re.sub(pattern, instead, written.text)
                assert text != written.text
                changed = replace(written, text=text)
                right.append(conformance.is_right(session, question, changed, types))
    assert not all(right)


def test_a_refused_spark_reads_no_data(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", lambda _: ["sum"])
    with (
        reading(cluster.address) as session,
        pytest.raises(Unavailable, match=r"\(sum\), so no data"),
    ):
        conformance.require_conformance(session, cluster.address)


def test_a_spark_that_passed_is_not_asked_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Session] = []

    def differences(session: Session) -> list[str]:
        asked.append(session)
        return []

    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", differences)
    with reading(cluster.address) as session:
        conformance.require_conformance(session, cluster.address)
        conformance.require_conformance(session, cluster.address)
        conformance.require_conformance(session, "local[1]")
    assert len(asked) == 2
