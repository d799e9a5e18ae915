"""Start one Spark for a module's tests, on loopback, and give its tables to connectors."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pydantic import SecretStr

from penstock.connectors.connections import Connections
from penstock.connectors.sources import Sources
from penstock.connectors.spark import session

ADDRESS = "local[2]"
SCHEMA = "global_temp"
"""The schema of views that all sessions see, and that last as long as Spark."""


@dataclass
class Cluster:
    """Hold a running Spark, and the address at which it is read."""

    spark: Any
    address: str

    @property
    def sources(self) -> Sources:
        """Return what lets a connector read under the name ``cluster``."""
        return sources_at(self.address)

    def fill(self, view: str, table: pa.Table) -> None:
        """Make a view anew, with these rows."""
        session.rows_of(self.spark, table).createOrReplaceGlobalTempView(view)

    def define(self, view: str, text: str) -> None:
        """Make a view of a SELECT anew."""
        self.spark.sql(text).createOrReplaceGlobalTempView(view)


def sources_at(address: str) -> Sources:
    """Return what lets a connector read at an address, under the name ``cluster``."""
    return Sources(connections=Connections({"cluster": SecretStr(address)}))


def source_of(view: str) -> Mapping[str, str]:
    """Return the source of a dataset that is a view of the cluster."""
    return {"engine": "spark", "connection": "cluster", "table": f"{SCHEMA}.{view}"}


def require_java() -> None:
    """Fail in continuous integration, and skip elsewhere, if there is no Java runtime."""
    if shutil.which("java") is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Java runtime, which the tests with Spark need")
        pytest.skip("there is no Java runtime")


@contextmanager
def started() -> Iterator[Cluster]:
    """Yield a Spark with two threads, and stop it with its Java."""
    require_java()
    # Nothing here runs for long enough to be worth a compiler's second look.
    os.environ["JDK_JAVA_OPTIONS"] = (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.sql.shuffle.partitions=2"
    )
    try:
        with session.reading(ADDRESS):
            yield Cluster(session._started[0].session, ADDRESS)
    finally:
        session.stop()
        del os.environ["JDK_JAVA_OPTIONS"]
