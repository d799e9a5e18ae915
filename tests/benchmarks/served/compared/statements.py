"""Count the statements that a server sends to its database, outside of what is timed.

SQLite's are counted in the server, by a hook (``counted/sitecustomize.py``); PostgreSQL's in the
database's log.  Both count what begins and ends a transaction, and what background threads do.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

HOOK = Path(__file__).parent / "counted"
Count = Callable[[], int]
"""Returns how many statements there have been."""


def hooked(file: Path) -> dict[str, str]:
    """Return the variables of a server that counts SQLite's statements in ``file``."""
    file.touch()
    return {"PYTHONPATH": str(HOOK), "BENCHMARK_STATEMENTS": str(file)}


def in_file(file: Path) -> Count:
    """Count what a hooked server wrote."""
    return lambda: file.stat().st_size


@contextmanager
def logged(cluster: "Cluster") -> Iterator[Callable[[str], Count]]:
    """Let PostgreSQL log every statement for a while; yield how to count those of a database."""
    log = cluster.folder / "log"

    def of(database: str) -> Count:
        line = re.compile(rf"^{re.escape(database)} LOG:  (statement|execute [^:]*): ", re.M)
        return lambda: len(line.findall(log.read_text(errors="replace")))

    with cluster.set("log_line_prefix", "%d "), cluster.set("log_statement", "all"):
        yield of
