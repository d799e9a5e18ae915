"""Define what can go wrong below HTTP: with the database, with the keys, with a dataset's file.

A fault is made in a home and repaired again. ``refused`` names the requests that cannot be served
meanwhile, ``served`` those that still can.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.bad_input.tables import asking, computed, datasets, people, vectors

from penstock.encryption import KeyRing, Secrets

NOBODY = 65534
BUSY_TIMEOUT = 0.1


@dataclass(frozen=True)
class Request:
    """Represent a request that is valid as long as nothing is broken."""

    verb: str
    path: str
    body: Any
    by: str | None


REQUESTS: Mapping[str, Request] = {
    "ready": Request("GET", "/readyz", None, None),
    "read": Request("GET", "/api/v1/me", None, "root"),
    "list": Request("GET", "/api/v1/queries", None, "ann"),
    "repeat": Request("POST", asking.ASK, {}, "ann"),
    "first": Request("POST", asking.ASK, {"epsilon": 0.05}, "ann"),
    "tier": Request("POST", people.TIERS, people.TIER, "root"),
    "token": Request("POST", people.TOKENS, people.TOKEN, "root"),
    "dataset": Request("POST", datasets.DATASETS, datasets.GOOD, "root"),
    "vector": Request("POST", vectors.QUERIES, vectors.GOOD, "root"),
    "computed": Request("POST", vectors.QUERIES, {**computed.GOOD, "name": "counted"}, "root"),
}
READING = ("read", "list", "repeat")
WRITING = ("first", "tier", "token", "dataset", "vector", "computed")


@dataclass(frozen=True)
class Place:
    """Hold a home, and the file of its dataset."""

    home: Path
    file: Path

    @property
    def database(self) -> Path:
        return self.home / "database" / "penstock.db"

    @property
    def ring(self) -> Path:
        return self.home / "keys" / "keyring.json"

    @property
    def secrets(self) -> Path:
        return self.home / "keys" / "secrets.json"


Harm = Callable[[Place], contextlib.AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """Represent one fault, which is present inside the block of ``harm``."""

    name: str
    harm: Harm
    code: str
    says: str
    refused: tuple[str, ...]
    served: tuple[str, ...] = ()
    status: int = 503
    retry: bool = False


def nothing(_: Path) -> None:
    """Do not replace the file."""


@contextmanager
def replaced(path: Path, make: Callable[[Path], object]) -> Iterator[None]:
    """Move ``path`` away and let ``make`` replace it; a database's log files move with it."""
    logs = [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm")]
    moved = {one: one.with_name(f"{one.name}.away") for one in (path, *logs) if one.exists()}
    for one, away in moved.items():
        one.rename(away)
    try:
        make(path)
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        for one in (path, *logs):
            one.unlink(missing_ok=True)
        for one, away in moved.items():
            away.rename(one)


def instead(which: Callable[[Place], Path], make: Callable[[Path], object] = nothing) -> Harm:
    """Return a harm: a file is missing, or replaced by another one."""
    return lambda place: replaced(which(place), make)


def mode(which: Callable[[Place], Path], bits: int) -> Harm:
    """Yield a harm: a file has other permissions."""

    @contextmanager
    def harm(place: Place) -> Iterator[None]:
        before = which(place).stat().st_mode
        which(place).chmod(bits)
        try:
            yield
        finally:
            which(place).chmod(before)

    return harm


def private(text: str) -> Callable[[Path], object]:
    """Write a file that only its owner may read."""

    def make(path: Path) -> None:
        path.write_text(text)
        path.chmod(0o600)

    return make


def version(number: str) -> Harm:
    """Yield a harm: the database says that it has another schema."""

    @contextmanager
    def harm(place: Place) -> Iterator[None]:
        with closing(sqlite3.connect(place.database)) as connection:
            before = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        for current in (number, before):
            with closing(sqlite3.connect(place.database)) as connection, connection:
                connection.execute("UPDATE alembic_version SET version_num = ?", (current,))
            if current == number:
                yield

    return harm


@contextmanager
def without_a_column(place: Place) -> Iterator[None]:
    """Yield a harm: tiers have another column, as in an earlier schema."""
    for before, after in (("description", "remark"), ("remark", "description")):
        with closing(sqlite3.connect(place.database)) as connection, connection:
            connection.execute(f"ALTER TABLE tier RENAME COLUMN {before} TO {after}")
        if before == "description":
            yield


@contextmanager
def another_writer(place: Place) -> Iterator[None]:
    """Yield a harm: another transaction began to write and does not end."""
    with closing(sqlite3.connect(place.database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def damaged(place: Place) -> Iterator[None]:
    """Yield a harm: all pages but the first are overwritten, as by a failing disk."""
    before = place.database.read_bytes()
    place.database.write_bytes(before[:4096] + b"\xff" * (len(before) - 4096))
    try:
        yield
    finally:
        place.database.write_bytes(before)


@contextmanager
def read_only(place: Place) -> Iterator[None]:
    """Yield a harm: neither the database nor its folder may be written, by any account."""
    files = [place.home, *place.home.rglob("*"), place.file]
    privileged = os.geteuid() == 0
    for path in files if privileged else []:
        os.chown(path, NOBODY, -1)
    place.database.chmod(0o444)
    place.database.parent.chmod(0o555)
    if privileged:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if privileged:
            os.seteuid(0)
        for path in files if privileged else []:
            os.chown(path, 0, -1)
        place.database.parent.chmod(0o755)
        place.database.chmod(0o644)


def ring_with(**changes: Any) -> Callable[[Path], object]:
    """Return a ring whose file says something else in these fields."""

    def make(path: Path) -> None:
        content = json.loads(path.with_name(f"{path.name}.away").read_text())
        private(json.dumps({**content, **changes}))(path)

    return make


SEALING = ("ready", "dataset")
KEYED = (*SEALING, "repeat")
UNKEYED = ("read", "list")
"""The requests that need no key."""
ALL = ("ready", *READING, *WRITING)

LIVE = [
    Fault(
        "the database is locked", another_writer, "DATABASE_UNAVAILABLE",
        r"locked: another process has held it for more than 0\.1 s\. Try again",
        WRITING, READING, retry=True,
    ),
    Fault(
        "the database is away", instead(lambda place: place.database), "DATABASE_UNAVAILABLE",
        "cannot be opened.*penstock init", ALL, retry=True,
    ),
    Fault(
        "the database is a text", instead(lambda place: place.database, private("text" * 2000)),
        "DATABASE_UNAVAILABLE", "is not a database", ALL, retry=True,
    ),
    Fault(
        "the database is a folder", instead(lambda place: place.database, Path.mkdir),
        "DATABASE_UNAVAILABLE", "cannot be opened", ALL, retry=True,
    ),
    Fault(
        "the database is empty", instead(lambda place: place.database, private("")),
        "SCHEMA_UNKNOWN", "penstock db upgrade", ALL,
    ),
    Fault(
        "the database is of another version", version("9999"), "SCHEMA_UNKNOWN",
        "has schema 9999, which this version does not know.*Install the version", ("ready",),
    ),
    Fault(
        "the database lacks a column", without_a_column, "SCHEMA_UNKNOWN",
        "lacks a table or a column.*penstock db upgrade", ("list", "first", "tier", "dataset"),
        ("read",),
    ),
    Fault(
        "the key ring is away", instead(lambda place: place.ring), "KEYS_UNAVAILABLE",
        "keyring.json is missing. Restore it", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is for the group", mode(lambda place: place.ring, 0o640),
        "KEYS_UNAVAILABLE", "mode 0640.*chmod 600", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is for everybody", mode(lambda place: place.ring, 0o604),
        "KEYS_UNAVAILABLE", "mode 0604.*chmod 600", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is empty", instead(lambda place: place.ring, private("")),
        "KEYS_UNAVAILABLE", "is not JSON. Restore the right file", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is something else", instead(lambda place: place.ring, private("[1]")),
        "KEYS_UNAVAILABLE", "is not a key ring of Penstock", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is of another version",
        instead(lambda place: place.ring, ring_with(version=3)),
        "KEYS_UNAVAILABLE", "another version than 2", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring lists no keys", instead(lambda place: place.ring, ring_with(keys={})),
        "KEYS_UNAVAILABLE", "to which contexts", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring holds garbage", instead(lambda place: place.ring, ring_with(keys={"a": "b"})),
        "KEYS_UNAVAILABLE", "32 bytes in base64", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is a folder", instead(lambda place: place.ring, Path.mkdir),
        "KEYS_UNAVAILABLE", "is not a file", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is a pipe",
        instead(lambda place: place.ring, lambda path: os.mkfifo(path, 0o600)),
        "KEYS_UNAVAILABLE", "is not a file", KEYED, UNKEYED,
    ),
    Fault(
        "the key ring is another's", instead(lambda place: place.ring, KeyRing.create),
        "KEYS_UNAVAILABLE", "lacks key [0-9a-f]+.*Restore the ring that belongs",
        (*KEYED, "first", "vector", "computed"), UNKEYED,
    ),
    *(
        Fault(
            f"the dataset's file {what}", instead(lambda place: place.file, make),
            "SOURCE_CHANGED", f"{says}. Nothing was released. Put the registered file back",
            ("computed",), (*READING, "ready"), status=409,
        )
        for what, make, says in (
            ("vanished", nothing, "cannot be found"),
            ("is a folder", Path.mkdir, "cannot be found"),
            ("is a pipe", os.mkfifo, "cannot be found"),
            ("leads nowhere", lambda path: path.symlink_to("nowhere.csv"), "cannot be found"),
            ("is empty", lambda path: path.write_text(""), "is not the one that was registered"),
            (
                "has one row more",
                lambda path: path.write_text(
                    path.with_name(f"{path.name}.away").read_text() + "x,north,1\n"
                ),
                "is not the one that was registered",
            ),
            (
                "has one letter changed",
                lambda path: path.write_text(
                    path.with_name(f"{path.name}.away").read_text().replace("north", "North", 1)
                ),
                "is not the one that was registered",
            ),
            (
                "is another file by a link",
                lambda path: path.symlink_to("/etc/passwd"),
                "is not the one that was registered",
            ),
        )
    ),
]  # fmt: skip

AT_START = [
    *(fault for fault in LIVE if "ready" in fault.refused),
    Fault(
        "the database is damaged", damaged, "DATABASE_UNAVAILABLE",
        "is damaged. Stop the server and restore a backup", (),
    ),
    Fault(
        "the database has two versions", version("0001,0002"), "SCHEMA_UNKNOWN",
        "which this version does not know", (),
    ),
    Fault(
        "the secrets are away", instead(lambda place: place.secrets), "KEYS_UNAVAILABLE",
        "secrets.json is missing", (),
    ),
    Fault(
        "the secrets are for the group", mode(lambda place: place.secrets, 0o660),
        "KEYS_UNAVAILABLE", "secrets.json has mode 0660.*chmod 600", (),
    ),
    Fault(
        "the secrets are a key ring", instead(lambda place: place.secrets, KeyRing.create),
        "KEYS_UNAVAILABLE", "not a file of Penstock's secrets", (),
    ),
    Fault(
        "the secrets are of another home", instead(lambda place: place.secrets, Secrets.create),
        "KEYS_UNAVAILABLE", r"not those .* \(pepper, fingerprint, values differ\).*Put the", (),
    ),
    Fault(
        "the key ring is secrets", instead(lambda place: place.ring, Secrets.create),
        "KEYS_UNAVAILABLE", "is not a key ring of Penstock", (),
    ),
    Fault(
        "the keys' folder is away", instead(lambda place: place.home / "keys"),
        "KEYS_UNAVAILABLE", "is missing. Restore it", (),
    ),
    Fault(
        "the home is away", instead(lambda place: place.home), "UNAVAILABLE",
        "no home at .*penstock init", (),
    ),
    Fault(
        "the home is a file", instead(lambda place: place.home, private("")), "UNAVAILABLE",
        "no home at .*penstock init", (),
    ),
]  # fmt: skip
