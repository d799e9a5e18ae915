"""Test a Java that is killed, as by the kernel for its memory, while Spark counts for a query.

A process starts one Spark, which others use, so another process loses its own.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.databases import spark

LOSE = """
import json, os, signal, sys, threading
from dataclasses import replace
from pathlib import Path
from pydantic import SecretStr
from sqlmodel import select
from pyspark import SparkContext
from tests.databases import spark
from tests.faults.stage import build, opened, write_urls
from penstock.errors import Unavailable
from penstock.persistence.tables import Charge, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.services.verification.verification import verify

LONG = "SELECT CAST(id % 1000 AS STRING) AS person, 'a' AS ward FROM range(0, 900000000000)"
SHORT = "SELECT CAST(id AS STRING) AS person, 'a' AS ward FROM range(0, 7)"
DATASET = {
    "name": "visits",
    "source": dict(spark.source_of("visits")),
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b"]},
    },
    "budgets": {"public": {"epsilon": 1.0}, "internal": {"epsilon": 2.0}},
}
COUNTS = {
    "name": "counts",
    "dataset": "visits",
    "mechanism": "gaussian",
    "group_by": ["ward"],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
}


def kill_when_it_counts(context):
    seen = set()
    while True:
        running = set(context.statusTracker().getActiveJobsIds())
        if running & seen:
            break
        seen = running
        threading.Event().wait(1)
    os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)


def rows(server):
    with server.database.read() as session:
        return [len(session.exec(select(kind)).all()) for kind in (Query, Charge, Release)]


home = Path(sys.argv[1])
write_urls(home, {})
build(home, analysts=1)
with opened(home) as plain:
    connections = {"cluster": SecretStr(spark.ADDRESS)}
    settings = plain.settings.model_copy(update={"connections": connections})
    server = replace(plain, settings=settings)
    counts = ComputedQueryRequest.model_validate(COUNTS)
    said = {"before": rows(server)}
    with spark.started() as cluster:
        cluster.define("visits", LONG)
        datasets.register(server, OPERATOR, DatasetRequest.model_validate(DATASET))
        killer = threading.Thread(target=kill_when_it_counts, args=[cluster.spark.sparkContext])
        killer.start()
        try:
            registration.register(server, OPERATOR, counts)
        except Unavailable as problem:
            said |= {"problem": problem.detail, "charged": rows(server)}
        killer.join()
    with spark.started() as cluster:
        cluster.define("visits", SHORT)
        registration.register(server, OPERATOR, counts)
        said["after"] = rows(server)
    said["verified"] = list(verify(server, OPERATOR).problems)
print(json.dumps(said))
"""


@pytest.mark.nightly
def test_a_java_that_is_killed_while_it_counts_is_charged_once_and_finished_later(
    tmp_path: Path,
) -> None:
    spark.require_java()
    done = subprocess.run(
        [sys.executable, "-c", LOSE, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["problem"].startswith("Spark did not read the view to its end")
    assert "memory" in said["problem"]
    assert "is charged and waits for its data" in said["problem"]
    # A query, its charges by tier, and the anchor: the same spec again adds what was missing.
    assert (said["before"], said["charged"], said["after"]) == ([0, 0, 0], [1, 2, 0], [1, 2, 1])
    assert said["verified"] == []
