"""Test that a view of a cluster, in processes of its own, is read as one within this machine.

A process can start one Spark only, so another one reads the cluster.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.databases import spark_cluster

READ = """
import sys
import pyarrow as pa
from tests.databases import spark
from tests.unit.connectors.cases import KEY, SALT, dataset_of, query_of, stated
from tests.unit.connectors.spark.conftest import ROWS
from penstock.connectors.choice import connector_of
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.spark import session

sources = spark.sources_at(sys.argv[1])
with session.reading(sys.argv[1]):
    cluster = spark.Cluster(session._started[0].session, sys.argv[1])
cluster.fill("visits", pa.table(ROWS))
visits = dataset_of(source=dict(spark.source_of("visits")))
connector_of(visits, sources).check(visits)
for query in (query_of(group_by=["ward"]), query_of({"type": "sum", "column": "cost"})):
    numbers = answer(
        visits,
        stated(visits, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(visits, KEY, sources),
        sources=sources,
    ).steps
    print(*numbers)
print(cluster.spark.sparkContext.master)
session.stop()
"""


@pytest.mark.nightly
def test_a_cluster_on_loopback_answers_as_one_process_does(tmp_path: Path) -> None:
    with spark_cluster.started(tmp_path) as address:
        done = subprocess.run(
            [sys.executable, "-c", READ, address], capture_output=True, text=True, check=False
        )
    assert done.stdout.split("\n")[:3] == ["2 1 1", "-1", address], done.stderr
