"""Start a server of Spark Connect on loopback, in a process of its own, and give it views.

The server is in the package of PySpark; it asks for a token, which goes to ``localhost`` alone
without TLS.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark
from tests.databases.spark import Cluster, require_java
from tests.support.ending import with_the_parent

from penstock.connectors.spark import connect

_HOME = Path(pyspark.__file__).parent
_STARTED: Final = re.compile(r"Spark Connect server started at: \S*:(\d+)")
_PAGES: Final = re.compile(r"started service 'SparkUI' on port (\d+)")
TOKEN: Final = "canary-of-the-token"
_SETTINGS: Final = {
    "spark.connect.authenticate.token": TOKEN,
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "768m",
    # Nothing here runs for long enough to be worth a compiler's second look.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.port": "0",
}


@dataclass
class Server(Cluster):
    """Hold a running server: its process, its log, and a session that gives it views."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def port(self) -> int:
        """Return the port of the loopback at which it answers."""
        return int(self.address.rpartition("/;")[0].rpartition(":")[2])

    @property
    def pages(self) -> str:
        """Return the address of the pages that the server shows to its operator."""
        shown = _PAGES.search(self.log.read_text())
        assert shown is not None, "the server was started without pages"
        return f"http://127.0.0.1:{shown[1]}"

    def kill(self) -> None:
        """End the process without a word."""
        self.process.kill()
        self.process.wait()


def address_at(port: int, token: str = TOKEN) -> str:
    """Return the address of a server."""
    return f"sc://localhost:{port}/;token={token}"


@contextmanager
def started(folder: Path, *, port: int = 0, pages: bool = False) -> Iterator[Server]:
    """Yield a server that answers, at a free port unless one is named; stop it by its process."""
    require_java()
    log = folder / "connect.log"
    settings = {
        **_SETTINGS,
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": str(pages).lower(),
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    with _submitted(folder, log, settings) as process:
        address = address_at(_port_of(process, log))
        spark = connect.opened(address)
        spark.client.set_retry_policies([])  # a test that kills the server waits for nothing
        try:
            yield Server(spark, address, process, log)
        finally:
            connect.close(spark)


@contextmanager
def _submitted(
    folder: Path, log: Path, settings: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(_HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    # It becomes the Java, which keeps its process number.
    command += [
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "SPARK_HOME": str(_HOME), "SPARK_LOCAL_IP": "127.0.0.1"},
            preexec_fn=with_the_parent(),
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    while (answering := _STARTED.search(log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    return int(answering[1])
