"""Start a cluster of Spark on loopback: a master and one worker, in processes of their own."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from tests.databases.spark import require_java
from tests.support.ending import with_the_parent

_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"
# The package has no release file, from which a worker would know its Scala.
_ENVIRONMENT = {
    "SPARK_HOME": str(_HOME),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_SCALA_VERSION": "2.13",
}


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """Yield the address of a cluster whose worker has registered."""
    require_java()
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker_of = [f"{_DEPLOY}.worker.Worker", *own, "--cores", "1", "--memory", "1g"]
    log = folder / "worker.log"
    with (
        _java(folder / "master.log", [f"{_DEPLOY}.master.Master", *own, "--port", str(port)]),
        _java(log, [*worker_of, "--work-dir", str(folder), address]) as worker,
    ):
        while "Successfully registered with master" not in log.read_text():
            assert worker.poll() is None, log.read_text()
            with suppress(subprocess.TimeoutExpired):
                worker.wait(0.2)
        yield address


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _java(log: Path, arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["java", "-Xmx256m", "-cp", f"{_HOME / 'jars'}/*", *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ENVIRONMENT},
            preexec_fn=with_the_parent(),
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
