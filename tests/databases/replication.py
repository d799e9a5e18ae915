"""Run a primary and a standby for the tests, by Debian's PostgreSQL and streaming replication.

Each of the two places, ``left`` and ``right``, has a folder and a port that stay: after a fail-over
a new standby is started in the place of the server that was lost, and the same URL reaches both.
"""

import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.databases import cluster as servers
from tests.databases.cluster import APPLICATION, Cluster

NAMES = ("left", "right")
CONFIRMING = f"ANY 1 ({', '.join(NAMES)})"
HANG = 1800.0
"""Seconds after which a server that does not follow is given up; no outcome depends on it."""


@dataclass
class Pair:
    """Represent two servers: the first of ``places`` by number ``leader`` is the primary."""

    places: list[Cluster]
    leader: int = 0

    @property
    def primary(self) -> Cluster:
        """Return the server that is written to."""
        return self.places[self.leader]

    @property
    def standby(self) -> Cluster:
        """Return the server that follows, or will."""
        return self.places[1 - self.leader]

    def url(self, database: str, role: str = APPLICATION) -> str:
        """Return a URL that names both servers and reaches the primary."""
        hosts = ",".join(quote(str(place.folder)) for place in self.places)
        ports = ",".join(str(place.port) for place in self.places)
        return (
            f"postgresql://{role}@/{database}?host={hosts}&port={ports}"
            "&target_session_attrs=read-write"
        )

    def follow(self) -> None:
        """Start a standby of the primary in the other place."""
        name, place = NAMES[1 - self.leader], self.standby
        data = place.folder / "data"
        shutil.rmtree(data, ignore_errors=True)
        primary = f"host={self.primary.folder} port={self.primary.port} user={servers.SUPERUSER}"
        subprocess.run(
            [
                *(place.programs / "pg_basebackup", "--pgdata", data, "--write-recovery-conf"),
                *("--dbname", f"{primary} application_name={name}", "--checkpoint=fast"),
                "--no-sync",
            ],
            check=True,
            capture_output=True,
            **servers.as_account(place.folder),
        )
        place.start()
        self._until("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'", bool)

    def confirm(self, names: str = CONFIRMING) -> None:
        """Let commits wait for the standbys of these names; for none if it is empty."""
        with self.primary.administered() as connection:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            connection.execute("SELECT pg_reload_conf()")
        self._until("SELECT current_setting('synchronous_standby_names')", lambda it: it == names)

    def part(self) -> None:
        """Let the standby receive nothing more, though it goes on."""
        with self.standby.administered() as connection:
            connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
            connection.execute("SELECT pg_reload_conf()")
        self._until("SELECT 1 FROM pg_stat_replication", lambda it: it is None)

    def fail_over(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop the primary at once, and promote the standby."""
        self.primary.stop(how)
        with self.standby.administered() as connection:
            connection.execute("SELECT pg_promote(true, 600)")
        self.leader = 1 - self.leader

    def remove(self) -> None:
        """Stop both, and leave nothing behind."""
        for place in self.places:
            place.remove()

    def _until(self, statement: str, come: Any) -> None:
        until = time.monotonic() + HANG
        with self.primary.administered() as connection:
            while not come((connection.execute(statement).fetchone() or (None,))[0]):
                assert time.monotonic() < until, statement
                time.sleep(0.01)


def launch(programs: Path) -> Pair:
    """Start a primary whose commits wait for nobody yet, and a place for a standby."""
    primary = servers.launch(programs)
    folder = Path(tempfile.mkdtemp(prefix=primary.folder.name, dir=primary.folder.parent))
    servers.give(folder)
    other = Cluster(folder, programs, servers.free_port(), primary.process)
    return Pair([primary, other])
