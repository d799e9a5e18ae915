"""Start Debian's PostgreSQL for the tests in a folder of its own, and stop it after them.

The database never runs as root, and listens on the loopback and on a socket that nobody
else reaches.  It keeps what it confirms (fsync and the like are on), because the server
refuses a database that does not.
"""

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql
from tests.support import ending

ACCOUNT = "postgres"
SUPERUSER = "postgres"
OWNER, APPLICATION = "penstock_owner", "penstock"
PASSWORD = "p/w?d@1:2"
PREFIX = "penstock-postgresql-"
STARTING_SECONDS = 300.0
HANG = 1800.0
"""Seconds after which a test that hangs is given up; no outcome depends on it."""
ROOM = 2 * 1024**3
"""Bytes that a folder in memory must have free to be taken for the data."""


@dataclass
class Cluster:
    """Represent a running server, and the databases made in it."""

    folder: Path
    programs: Path
    port: int
    process: "subprocess.Popen[bytes]"
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    superuser: "psycopg.Connection[Any] | None" = None

    def url(self, database: str, role: str = APPLICATION) -> str:
        """Return a URL through the socket, where no password is asked for."""
        place = f"host={quote(str(self.folder))}&port={self.port}"
        return f"postgresql://{role}@/{database}?{place}"

    def address(self, database: str, role: str = APPLICATION, password: str = PASSWORD) -> str:
        """Return a URL through TCP, with a password."""
        return f"postgresql://{role}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    @contextmanager
    def administered(self, database: str = "postgres") -> Iterator["psycopg.Connection[Any]"]:
        """Yield a connection of the superuser's, without transactions."""
        with psycopg.connect(
            host=str(self.folder),
            port=self.port,
            dbname=database,
            user=SUPERUSER,
            autocommit=True,
        ) as connection:
            yield connection

    def until_one_waits(self, over: Sequence[object] = ()) -> None:
        """Wait until some transaction waits for a lock that another one holds.

        Whatever gets into ``over`` meanwhile says that none is going to.
        """
        until = time.monotonic() + HANG
        with self.administered() as connection:
            while not connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                assert not over, "somebody was to wait, and did not"
                assert time.monotonic() < until, "no transaction waits for another"
                time.sleep(0.01)

    def create(self, template: str = "template0") -> str:
        """Create a database that belongs to the owner role, and return its name."""
        name = f"penstock_{next(self.numbers)}"
        self._always().execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} ENCODING 'UTF8'").format(
                sql.Identifier(name), sql.Identifier(OWNER), sql.Identifier(template)
            )
        )
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever uses it."""
        self._always().execute(
            sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
        )

    def _always(self) -> "psycopg.Connection[Any]":
        """Return the superuser's connection that is kept, as long as the server runs."""
        if self.superuser is None:
            self.superuser = psycopg.connect(
                host=str(self.folder),
                port=self.port,
                dbname="postgres",
                user=SUPERUSER,
                autocommit=True,
            )
        return self.superuser

    @contextmanager
    def set(self, setting: str, value: str) -> Iterator[None]:
        """Run the server with another setting for a while."""
        statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(
            sql.Identifier(setting), sql.Literal(value)
        )
        with self.administered() as connection:
            before = _shown(connection, setting)
            connection.execute(statement)
            _reload(connection, setting, value)
        try:
            yield
        finally:
            with self.administered() as connection:
                connection.execute(sql.SQL("ALTER SYSTEM RESET {}").format(sql.Identifier(setting)))
                _reload(connection, setting, before)

    def log_place(self) -> str:
        """Begin a new file of the write-ahead log, and return its name."""
        with self.administered() as connection:
            connection.execute("SELECT pg_switch_wal()")
            row = connection.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
            name: str = (row.fetchone() or ("",))[0]
            return name

    def files(self, name: str, since: str) -> list[Path]:
        """Return all that is on disk of a database, and of the write-ahead log from a file on."""
        with self.administered() as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute("SELECT oid FROM pg_database WHERE datname = %s", [name])
            (key,) = row.fetchone() or ("",)
        data = self.folder / "data"
        log = [path for path in (data / "pg_wal").glob("0*") if path.name >= since]
        return [*(data / "base" / str(key)).iterdir(), *log, self.folder / "log"]

    def start(self) -> None:
        """Start the server again after ``stop``."""
        self.process = _started(self.folder, self.programs, self.port)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let all processes of the server stand still, as on a machine that hangs."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        first = self.process.pid
        os.kill(first, number)
        for child in Path(f"/proc/{first}/task/{first}/children").read_text().split():
            with suppress(ProcessLookupError):  # one that has ended meanwhile
                os.kill(int(child), number)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End the server: at once (SIGQUIT), or when it has tidied up (SIGINT)."""
        if self.superuser is not None:
            self.superuser.close()
            self.superuser = None
        self.process.send_signal(how)
        self.process.wait()

    def remove(self) -> None:
        """Stop the server, and leave nothing behind."""
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder)


def programs() -> Path | None:
    """Return the folder of the newest PostgreSQL that is installed, as Debian lays it out."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3])
    )
    return found[-1].parent if found else None


def launch(programs: Path) -> Cluster:
    """Make and start a server with the tests' two roles."""
    parent = _roomy() or Path(tempfile.gettempdir())
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    give(folder)
    data = folder / "data"
    subprocess.run(
        [
            *(programs / "initdb", "--pgdata", data, "--username", SUPERUSER, "--auth", "trust"),
            *("--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"),
        ],
        check=True,
        capture_output=True,
        **as_account(folder),
    )
    (data / "pg_hba.conf").write_text(
        "local all all trust\nlocal replication all trust\n"
        "host all all 127.0.0.1/32 scram-sha-256\n"
    )
    port = free_port()
    cluster = Cluster(folder, programs, port, _started(folder, programs, port))
    with cluster.administered() as connection:
        for role in (OWNER, APPLICATION):
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                    sql.Identifier(role), sql.Literal(PASSWORD)
                )
            )
    return cluster


def give(folder: Path) -> None:
    """Give a folder to the account that PostgreSQL runs as."""
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(folder, account.pw_uid, account.pw_gid)


def _reload(connection: "psycopg.Connection[Any]", setting: str, value: str) -> None:
    connection.execute("SELECT pg_reload_conf()")
    until = time.monotonic() + STARTING_SECONDS
    while _shown(connection, setting) != value:
        assert time.monotonic() < until, f"{setting} does not become {value}"
        time.sleep(0.005)


def _shown(connection: "psycopg.Connection[Any]", setting: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", [setting]).fetchone()
    shown: str = (row or ("",))[0]
    return shown


def _sweep(parent: Path) -> None:
    """Remove what test processes left that were killed; their servers ended with them."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path, programs: Path, port: int) -> "subprocess.Popen[bytes]":
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(folder),
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "shared_buffers": "32MB",
        "dynamic_shared_memory_type": "mmap",
        "deadlock_timeout": "20ms",
        "wal_recycle": "off",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [programs / "postgres", "-D", folder / "data", "-p", str(port), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=ending.with_the_parent(signal.SIGQUIT),
            **as_account(folder),
        )
    until = time.monotonic() + STARTING_SECONDS
    while True:
        try:
            psycopg.connect(host=str(folder), port=port, dbname="postgres", user=SUPERUSER).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                raise
            time.sleep(0.02)
        else:
            return process


def as_account(folder: Path) -> dict[str, Any]:
    """Return how a program of PostgreSQL is run: it refuses to be root."""
    plain: dict[str, Any] = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}}
    if os.geteuid() != 0:
        return plain
    account = pwd.getpwnam(ACCOUNT)
    return {**plain, "user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _roomy() -> Path | None:
    """Return a folder in memory, where syncing costs little; None for the usual one."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder made in it is private
    if memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ROOM:
        return memory
    return None
