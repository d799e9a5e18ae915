"""Hold what a connector needs of this server: where data are, and what a statement may use."""

from dataclasses import dataclass
from pathlib import Path

from penstock.connectors.connections import NO_CONNECTIONS, Connections


@dataclass(frozen=True)
class Sources:
    """Hold where data may be read from, and with how much.

    ``folder`` is where files may lie (see ``source_file.locate``); ``memory`` is a limit such as
    "2GB", and ``threads`` a number of threads, both of engines that run in this process.
    ``connections`` are the credentials for all others; ``statement_timeout`` is the seconds that a
    statement of PostgreSQL or ClickHouse may take.
    """

    folder: Path | None = None
    threads: int | None = None
    memory: str | None = None
    connections: Connections = NO_CONNECTIONS
    statement_timeout: float = 3600.0


ANYWHERE = Sources()
"""Any file that is named, read with what the machine has."""
