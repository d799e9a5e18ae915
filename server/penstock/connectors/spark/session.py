"""Start or reach Spark, and read with one session for each reading.

A session has settings and temporary views of its own, so readings at the same time do not meet.  A
process starts Spark once, when it is first needed, for a ``local[...]`` or ``spark://`` address; a
Java runtime is needed for it.  With Spark Connect (``sc://``) nothing is started here.
"""

import os
import re
import subprocess
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from penstock.connectors.spark import connect
from penstock.connectors.spark.failures import going_on, is_gone, keep_quiet, own_words
from penstock.connectors.spark.hosts import PATIENCE, hosts_of, require_answer
from penstock.errors import Unavailable
from penstock.settings import PREFIX

_SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    # Texts of a spec are texts: no variable in them is replaced, no escape is left out.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
}
"""What statements mean, whatever the cluster's own settings are."""

_OURS: Final[Mapping[str, str]] = {
    "spark.app.name": "penstock",
    # Its pages would show statements to anyone who reaches this machine, and its log cells.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
}
_LOOPBACK: Final[Mapping[str, str]] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
_MEMORY = re.compile(r"(\d+)([KMGT])i?B")


@dataclass
class _Started:
    """Hold the Spark that this process started; a process that was forked has none."""

    process: int
    address: str
    session: Any


_started: list[_Started] = []
_lock = threading.Lock()


class Session:
    """Read with one session of Spark, which is ``remote`` behind Spark Connect."""

    def __init__(self, spark: Any, *, remote: bool) -> None:
        self._spark = spark
        self._remote = remote

    @property
    def version(self) -> str:
        """Return Spark's version."""
        with own_words(running=False):
            return str(self._spark.version)

    def types(self, name: str) -> dict[str, str] | None:
        """Return the types of a relation's columns; None if there is no such relation.

        ``name`` is quoted.  No row is read.
        """
        from pyspark.errors import PySparkException

        with own_words(running=False):
            try:
                schema = self._spark.table(name).schema
            except PySparkException as error:
                if is_gone(error.getSqlState()):
                    return None
                raise
        return {field.name: field.dataType.simpleString() for field in schema}

    def declare(self, name: str, table: pa.Table) -> None:
        """Make a temporary relation of rows of ours."""
        with own_words(running=False):
            rows_of(self._spark, table).createOrReplaceTempView(name)

    def define(self, name: str, text: str, *, once: bool) -> None:
        """Make a temporary relation of a SELECT.

        It is read ``once``, and not for each time that a statement names it: Spark would read the
        data again, which may have changed.  Lost rows then fail the statement.
        """
        with own_words(running=False):
            rows = self._spark.sql(text)
        if once:
            with own_words(running=True):
                if self._remote:
                    rows = connect.checkpointed(self._spark, rows)
                else:
                    rows = rows.localCheckpoint(eager=True)
        with own_words(running=False):
            rows.createOrReplaceTempView(name)

    def table(self, text: str) -> pa.Table:
        """Run one SELECT; return its rows."""
        with own_words(running=False):
            rows = self._spark.sql(_inside(text))
        with own_words(running=True):
            return rows.toArrow()

    def schema(self, text: str) -> dict[str, str] | None:
        """Return the columns of a SELECT without running it; None if Spark refuses it."""
        from pyspark.errors import AnalysisException

        with own_words(running=False):
            try:
                schema = self._spark.sql(_inside(text)).schema
            except AnalysisException:  # also what is no SELECT
                return None
        return {field.name: field.dataType.simpleString() for field in schema}


@contextmanager
def reading(address: str, memory: str | None = None) -> Iterator[Session]:
    """Yield a session at an address; ``memory`` is a limit for a Spark inside this machine.

    Raises ``Unavailable`` if there is no Spark.
    """
    remote = address.startswith(connect.SCHEME)
    spark = connect.opened(address) if remote else _local(address, memory)
    try:
        with own_words(running=False):
            for name, value in _SETTINGS.items():
                spark.conf.set(name, value)
        yield Session(spark, remote=remote)
    finally:
        if remote:
            connect.close(spark)


def rows_of(spark: Any, table: pa.Table) -> Any:
    """Return a relation of rows of ours; Spark Connect takes no types from a table without rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(table, schema=from_arrow_schema(table.schema))


def stop() -> None:
    """Stop the Spark that this process started, if there is one."""
    with _lock:
        _forget()


def _inside(text: str) -> str:
    # What is no SELECT, and would be run at once, cannot stand here.
    return f"SELECT * FROM (\n{text}\n) AS answered"  # noqa: S608


def _local(address: str, memory: str | None) -> Any:
    with _lock:
        if _started and not _is_running(_started[0]):
            _forget()
        if not _started:
            if not address.startswith("local"):
                require_answer(hosts_of(address))
            with own_words(running=False):
                _started.append(_Started(os.getpid(), address, _start(address, memory)))
        if _started[0].address != address:
            raise Unavailable(
                "This process reads with another Spark already, and can start only one: put all"
                " views on one cluster, or use Spark Connect (sc://HOST:PORT)."
            )
        with own_words(running=False):
            return _started[0].session.newSession()


def _start(address: str, memory: str | None) -> Any:
    with warnings.catch_warnings():
        # PySpark warns of other packages' versions, which none of this uses.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.sql import SparkSession

        keep_quiet()
        inside = address.startswith("local")
        builder = SparkSession.builder.master(address)
        for name, value in {**_OURS, **_SETTINGS, **(_LOOPBACK if inside else {})}.items():
            builder = builder.config(name, value)
        limit = _MEMORY.fullmatch(memory or "")
        if inside and limit is not None:
            builder = builder.config("spark.driver.memory", f"{limit[1]}{limit[2].lower()}")
        with _own_variables_kept():
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        # The first table of ours imports what warns.
        session.createDataFrame(pa.table({"ready": [True]}))
        return session


@contextmanager
def _own_variables_kept() -> Iterator[None]:
    """Start Java without the variables of this server, which hold connections and keys' places.

    Another program of the account can read the environment of Java, and not that of a worker.
    PySpark copies its own whole environment, and cannot be told otherwise.
    """
    from pyspark import java_gateway

    module: Any = java_gateway  # its names are not all declared
    start = module.Popen

    def without(command: list[str], **options: Any) -> Any:
        given = options.get("env", os.environ)
        kept = {name: value for name, value in given.items() if not name.startswith(PREFIX)}
        return start(command, **{**options, "env": kept})

    module.Popen = without
    try:
        yield
    finally:
        module.Popen = start


def _is_running(started: _Started) -> bool:
    if started.process != os.getpid():
        return False
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        # A master that is lost stops the context; a Java that is gone answers nothing.
        return not started.session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001
    except (Py4JError, PySparkException, OSError, AttributeError):
        return False


def _end(gateway: Any) -> None:
    """End the Java of this process, which ends by itself when nothing holds its input."""
    with going_on():
        gateway.shutdown()
    with going_on():
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait(PATIENCE)


def _forget() -> None:
    """Drop the Spark of this process, also one that has ended by itself."""
    if not _started:
        return
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    started = _started.pop()
    if started.process == os.getpid():
        with going_on():
            started.session.stop()
        _end(SparkContext._gateway)  # noqa: SLF001
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001
