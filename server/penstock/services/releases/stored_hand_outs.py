"""Store a release that is handed to its first reader: its row, its leaf and its grant.

A level that is new is stored in the same way, with the query's next ``seq``.  On PostgreSQL all of
it is one statement, and so one round trip; SQLite runs one statement for each row.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Insert, Table, bindparam, insert, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from penstock.errors import IntegrityViolation
from penstock.persistence.database import WRITING
from penstock.persistence.protocol import Dialect
from penstock.persistence.row_authentication import signature, signing_key
from penstock.persistence.row_numbers import required
from penstock.persistence.statements.fixed_rows import FixedRow
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.queries import Query
from penstock.transparency_log.leaves import AppendedLeaf

_QUERY, _RELEASE, _LEAF, _GRANT = (
    metadata.tables[name] for name in ("query", "release", "leaf", "grant")
)
_LEAF_COLUMNS = ("index", "bytes", "hash", "kind", "at", "actor", "user", "dataset", "query")
_GRANT_COLUMNS = ("user_id", "release_id", "tier_id", "leaf_id", "at", "mac")


def _insert(table: Table, names: Sequence[str]) -> Insert:
    """Return a statement whose parameters are called like the columns, after the table's name."""
    values = {
        table.c[name]: bindparam(f"{table.name}_{name}", type_=table.c[name].type) for name in names
    }
    return insert(table).values(values)


_RENEWED: Final = (
    update(_QUERY)
    .where(_QUERY.c.id == bindparam("query_id"))
    .values({_QUERY.c.seq: bindparam("query_seq"), _QUERY.c.mac: bindparam("query_mac")})
)
_STORED: Final = _insert(_RELEASE, [column.name for column in _RELEASE.c]).inline()
_LOGGED: Final = _insert(_LEAF, ("id", *_LEAF_COLUMNS)).inline()
_HANDED: Final = _insert(_GRANT, _GRANT_COLUMNS).inline()
_BOTH: Final = _HANDED.add_cte(_LOGGED.cte("logged"))

_RENEW, _STORE, _HAND = Prepared(_RENEWED), Prepared(_STORED), Prepared(_HANDED)
_LOG: Final = Prepared(_insert(_LEAF, _LEAF_COLUMNS).returning(_LEAF.c.id))
_LOG_AND_HAND: Final = Prepared(_BOTH)
_ALL: Final = Prepared(_BOTH.add_cte(_RENEWED.cte("renewed"), _STORED.cte("stored")))


@dataclass
class NewLevel:
    """Hold a release that was drawn and is not stored yet.

    ``row`` has its columns but for ``ciphertext``, and ``query`` is the row of its query before it,
    ``signed`` the same for its HMACs.
    """

    query: Query
    signed: FixedRow
    row: dict[str, Any]
    ciphertext: bytes

    @property
    def id(self) -> int:
        """Return the number of its row."""
        number: int = self.row["id"]
        return number

    @property
    def public_id(self) -> str:
        """Return its name."""
        name: str = self.row["public_id"]
        return name

    @property
    def rung(self) -> int:
        """Return the rung of its level."""
        rung: int = self.row["rung"]
        return rung

    @property
    def seq(self) -> int:
        """Return its number among the releases of its query."""
        seq: int = self.row["seq"]
        return seq

    def taken_ciphertext(self) -> bytes:
        """Return the sealed vector, and keep it no longer."""
        sealed, self.ciphertext = self.ciphertext, b""
        return sealed


def store_hand_out(
    session: Session, new: NewLevel | None, leaf: AppendedLeaf, grant: Mapping[str, Any]
) -> None:
    """Store a leaf and the grant that it records, and before them ``new``, if it was drawn for it.

    ``grant`` has the columns of its row but for the leaf's number and the HMAC.  A leaf without a
    number is given one by the database.  Raises ``IntegrityViolation`` if there is a release where
    the new one belongs.
    """
    connection = session.connection()
    renewed, stored = ({}, {}) if new is None else _of_level(session, new)
    logged = _named(_LEAF, leaf.row())
    if leaf.id is not None:
        every = renewed | stored | logged | _of_grant(session, leaf.id, grant)
        if new is None:
            _LOG_AND_HAND.change(connection, every)
        else:
            with fitting(new.query.name):
                _ALL.change(connection, every | {"release_ciphertext": new.taken_ciphertext()})
        return
    if new is not None:
        with fitting(new.query.name):
            _RENEW.change(connection, renewed)
            _store(session, stored, new)
    leaf.id = (_LOG.first(connection, logged) or {}).get("id")
    _HAND.change(connection, _of_grant(session, required(leaf.id), grant))


def _store(session: Session, stored: dict[str, Any], new: NewLevel) -> None:
    """Store a release, and let go of its sealed vector once the database has it, if it is long."""
    connection = session.connection()
    dialect: Dialect = session.info[WRITING]
    sealed = dialect.large(connection, new.taken_ciphertext())
    if isinstance(sealed, bytes):
        _STORE.change(connection, stored | {"release_ciphertext": sealed})
    else:
        connection.execute(
            insert(_RELEASE).values({**new.row, "mac": stored["release_mac"], "ciphertext": sealed})
        )


def _named(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{table.name}_{name}": value for name, value in row.items()}


def _of_level(session: Session, new: NewLevel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters that renew the row of the query, and those that store the release."""
    key = signing_key(session)
    mac = None if key is None else new.signed.mac(key, new.seq)
    renewed = {"query_id": new.query.id, "query_seq": new.seq, "query_mac": mac}
    row = {**new.row, "mac": signature(session, "release", new.row)}
    return renewed, _named(_RELEASE, row)


def _of_grant(session: Session, leaf: int, grant: Mapping[str, Any]) -> dict[str, Any]:
    row = {**grant, "leaf_id": leaf}
    return _named(_GRANT, {**row, "mac": signature(session, "grant", row)})


@contextmanager
def fitting(name: str) -> Iterator[None]:
    """Raise ``IntegrityViolation`` where the releases of query ``name`` have no place."""
    try:
        yield
    except IntegrityError as problem:
        # The lock rules this out, unless rows were restored to an older state.
        raise IntegrityViolation(
            f"Query {name!r} already has a release where the next one belongs: its rows"
            " do not fit each other. Nothing was drawn; restore the database from a backup."
        ) from problem
