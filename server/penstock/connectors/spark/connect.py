"""Reach Spark by Spark Connect: each reading has a session of its own on the server.

PySpark's own client asks a lost server again for more than ten minutes, also when the session is
closed; this one for some seconds.  A session does not survive its server, and the client refuses
what another server answers under the same session's name.
"""

import atexit
from typing import Any, Final

from penstock.connectors.spark.failures import going_on, keep_quiet
from penstock.connectors.spark.hosts import PATIENCE, hosts_of, require_answer
from penstock.errors import Unavailable

SCHEME: Final = "sc://"
UNREADABLE: Final = (
    "The connection's address of Spark Connect cannot be read, or has a session_id, with which two"
    " readings would share their relations; it is like sc://HOST:15002/;use_ssl=true;token=TOKEN,"
    " with %-escapes in the token. Nothing was released."
)
_NOT_INSTALLED: Final = (
    "The server cannot use Spark Connect yet: install what it needs with"
    " `pip install 'penstock[spark]'` and start it again. Nothing was released."
)
_MOST: Final = PATIENCE * 1000 // 2
"""The most milliseconds between two attempts, whatever the server asks for."""


def opened(address: str) -> Any:
    """Return a new session at an address that begins with ``sc://``.

    Raises ``Unavailable`` if the address cannot be read, or no server answers there.
    """
    keep_quiet()
    try:
        # What PySpark raises for a package that it lacks is an ImportError too.
        from pyspark.errors import PySparkException
        from pyspark.sql.connect.client.core import DefaultChannelBuilder
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.logging import logger
        from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise Unavailable(_NOT_INSTALLED) from None
    # SPARK_CONNECT_LOG_LEVEL would turn it on, and it writes statements, relations and messages.
    logger.disabled = True
    try:
        builder = DefaultChannelBuilder(address)
        if builder.session_id is not None:
            raise Unavailable(UNREADABLE)
        require_answer(hosts_of(builder.endpoint))
        # Not by Spark's own builder, which would make it the session of the whole process.
        spark = SparkSession(builder)
    except (PySparkException, ValueError):
        raise Unavailable(UNREADABLE) from None
    # 0.1, 0.4, 1.6 and 5 seconds.
    policy = DefaultPolicy(
        max_retries=4, initial_backoff=100, max_backoff=_MOST, max_server_retry_delay=_MOST
    )
    spark.client.set_retry_policies([policy])
    return spark


def checkpointed(spark: Any, rows: Any) -> Any:
    """Read rows once and keep them on the server; return them as a relation of the session.

    PySpark looks for the session in the thread's active one, which another reading may have been.
    """
    from pyspark.sql.connect.session import SparkSession

    active = SparkSession._active_session  # noqa: SLF001
    before = getattr(active, "session", None)
    active.session = spark
    try:
        return rows.localCheckpoint(eager=True)
    finally:
        active.session = before


def close(spark: Any) -> None:
    """End a session, whatever its reading led to."""
    with going_on():
        spark.stop()
    # Each client registers itself, and would stay in memory until the process ends.
    atexit.unregister(spark.client._on_exit)  # noqa: SLF001
