"""Test sessions: where Spark is not, and what two of them share."""

import os
import socket
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from tests.databases.spark import ADDRESS, Cluster

from penstock.connectors.spark import session as sessions
from penstock.connectors.spark.session import reading
from penstock.errors import Unavailable

READ_ENVIRONMENT = """
import sys
from pathlib import Path
from penstock.connectors.spark import session
from tests.databases.spark import ADDRESS

with session.reading(ADDRESS):
    java = session._started[0].session.sparkContext._gateway.proc.pid
sys.stdout.write(Path(f"/proc/{java}/environ").read_text())
session.stop()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems show it elsewhere")
def test_java_has_no_variable_of_the_server() -> None:
    """Any program of the account can read its environment, and not that of a worker."""
    own = {"PENSTOCK_CONNECTION_WAREHOUSE": "postgresql://ann:canary@host/lake", "OTHER": "kept"}
    done = subprocess.run(
        [sys.executable, "-c", READ_ENVIRONMENT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **own},
    )
    assert "OTHER=kept" in done.stdout.split("\0"), done.stderr
    assert "canary" not in done.stdout
    assert "PENSTOCK_" not in done.stdout


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_cluster_that_is_away_is_unavailable_without_its_address(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_started", [])
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        address = f"{scheme}://127.0.0.1:{port}" + ("/;token=canary" if scheme == "sc" else "")
        with pytest.raises(Unavailable, match="cannot be reached") as refused, reading(address):
            pass
    assert "canary" not in str(refused.value)
    assert str(port) not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_second_cluster_in_one_process_is_refused(local: Cluster) -> None:
    with pytest.raises(Unavailable, match="can start only one"), reading("local[1]"):
        pass


def test_sessions_share_no_relations(cluster: Cluster) -> None:
    with reading(cluster.address) as one, reading(cluster.address) as other:
        one.declare("mine", pa.table({"x": [1]}))
        assert one.types("mine") == {"x": "bigint"}
        assert other.types("mine") is None


def test_a_relation_without_rows_has_its_types(cluster: Cluster) -> None:
    with reading(cluster.address) as session:
        session.declare("none", pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], "str")}))
        assert session.types("none") == {"x": "bigint", "y": "string"}
        assert session.table("SELECT x FROM none").num_rows == 0


def test_what_is_no_select_is_not_run(cluster: Cluster) -> None:
    with reading(cluster.address) as session:
        assert session.schema("DROP VIEW IF EXISTS global_temp.visits") is None
        assert session.schema("SELECT 1 AS a) AS b; DROP VIEW global_temp.visits") is None
        assert session.types("global_temp.visits") is not None


def test_texts_are_texts_whatever_they_hold(cluster: Cluster) -> None:
    with reading(cluster.address) as session:
        (row,) = session.table(r"SELECT '${env:HOME}' AS a, '\'\\n' AS b").to_pylist()
    assert row == {"a": "${env:HOME}", "b": "'\\n"}


def test_a_java_that_has_ended_is_noticed() -> None:
    class Gone:
        @property
        def sparkContext(self) -> Any:  # noqa: N802 - its name in PySpark
            raise ConnectionError

    ended = sessions._Started(os.getpid(), ADDRESS, Gone())
    assert not sessions._is_running(ended)
    assert not sessions._is_running(sessions._Started(-1, ADDRESS, None))
