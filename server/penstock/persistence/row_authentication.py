"""Authenticate rows, so that altered rows are refused wherever they are read.

Access rights, the record of draws and the remaining budgets are in columns that are not encrypted.
Each row that decides about them carries an HMAC of its columns under a key that is never in the
database.  It is set with every write and checked with every load, so that no caller can forget to;
a statement that loads columns instead of rows checks nothing, and must decide nothing unless it
calls ``require_authentic``.

What reads single rows without a transaction does not hash again what it found authentic before
(``statements.verified_rows``): a row with other bytes, or under other keys, is checked.

The HMAC covers the table, every column, and the row's number if other rows refer to it.  It does
not detect a deleted row, or an older version of the same row that is put back whole; counts
elsewhere do: the log, and the witness's totals.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final, Protocol

from sqlalchemy import (
    Column,
    Connection,
    Table,
    bindparam,
    event,
    insert,
)
from sqlalchemy.orm import Session as AnySession
from sqlalchemy.orm import make_transient_to_detached

from penstock.errors import IntegrityViolation
from penstock.persistence.row_numbers import take as take_numbers
from penstock.persistence.statements.encoders import encoder
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.statements.verified_rows import VerifiedRows
from penstock.persistence.tables.columns import Numbered, Signed, metadata

KEYS: Final = "authenticity"
"""The key in ``Session.info`` of the ``RowKeys``."""

_ACCEPTED: Final = "accepted"
"""The key in ``Session.info`` of the keys that its rows may be signed under."""

_VERIFIED: Final = "verified"
"""The key in ``info`` of the ``VerifiedRows`` under those keys, for what reads single rows."""

_SIGNING: Final = "signing"
"""The key in ``Session.info`` of the key that its transaction signs under."""

SEALED: Final = {"release": "ciphertext"}
"""Columns that their own encryption authenticates, with the columns that they belong to."""


def signed_tables() -> list[str]:
    """Return the names of the tables whose rows are authenticated, in their order."""
    from penstock.persistence import tables

    # Taken from there, it has every table, and not only those that this program has imported.
    every = tables.metadata.tables
    return sorted(_defined(Signed).intersection(every))


def _defined(base: type[Signed]) -> set[str]:
    """Return the names of the tables with this base that this program has imported."""
    kinds = [kind for child in base.__subclasses__() for kind in (child, *child.__subclasses__())]
    return {str(kind.__tablename__) for kind in kinds if "__table__" in vars(kind)}


def derived(secret: bytes) -> bytes:
    """Derive the key of the rows' HMACs from a key of ``values``, without revealing that."""
    return hmac.digest(secret, b"penstock rows 1\x00", hashlib.sha256)


class Informed(Protocol):
    """Hold the ``info`` of a session, or of what reads without one."""

    @property
    def info(self) -> dict[Any, Any]:
        """Return the keys of rows among other things."""
        ...


Signable = Sequence[Any] | Callable[[bytes], bytes]
"""The values of ``columns``, or what returns their HMAC under a key (``statements.fixed_rows``)."""


class RowKeys:
    """Hold the keys that rows may be signed under, as the file of secrets has them now."""

    def __init__(self, of_rows: Callable[[], tuple[bytes, ...]]) -> None:
        self._of_rows = of_rows
        self._kept: tuple[tuple[bytes, ...], tuple[bytes, ...], VerifiedRows]
        self._kept = ((), (), VerifiedRows())

    def now(self) -> tuple[bytes, ...]:
        """Return the keys, the newest first; new rows are signed under that one.

        Raises ``KeysUnavailable``.
        """
        return self.with_verified()[0]

    def with_verified(self) -> tuple[tuple[bytes, ...], VerifiedRows]:
        """Return the keys, and the rows that were authentic under exactly these."""
        secrets, kept = self._of_rows(), self._kept
        if kept[0] != secrets:
            derived_keys = tuple(derived(secret) for secret in secrets)
            kept = self._kept = (secrets, derived_keys, VerifiedRows())
        return kept[1:]


@cache
def columns(table: str) -> tuple[str, ...]:
    """Return the columns that are authenticated in the rows of a table."""
    left_out = {"mac", SEALED.get(table), None if table in _defined(Numbered) else "id"}
    return tuple(sorted({column.name for column in metadata.tables[table].columns} - left_out))


def mac(key: bytes, table: str, values: Sequence[Any]) -> bytes:
    """Return the HMAC-SHA256 of a row, whose ``values`` are in the order of ``columns``: 32 bytes.

    It covers the table's name and all values that are not null, each preceded by its column and
    length.  Raises ``TypeError`` or ``ValueError`` for a value that its column cannot hold.
    """
    digest = keyed(key).copy()
    digest.update(b"".join(parts_of(table, values)))
    return digest.digest()


def parts_of(table: str, values: Sequence[Any]) -> list[bytes]:
    """Return what a row's HMAC covers: the table's name, and one part for each column."""
    parts = [f"row 2\x00{table}".encode()]
    for (start, write), value in zip(writers(table), values, strict=True):
        if value is None:
            parts.append(b"")
        else:
            part = write(value)
            parts.append(b"%b%d\x00%b" % (start, len(part), part))
    return parts


@lru_cache(maxsize=16)
def keyed(key: bytes) -> hmac.HMAC:
    """Return an HMAC that has taken in its key, to be copied: that is done for every row."""
    return hmac.new(key, digestmod=hashlib.sha256)


@cache
def writers(table: str) -> tuple[tuple[bytes, Callable[[Any], bytes]], ...]:
    """Return how each column's part of the signed message begins, and the column's encoder."""
    kinds = metadata.tables[table].columns
    return tuple(
        (b"\x00%b\x00" % name.encode(), encoder(kinds[name].type)) for name in columns(table)
    )


def is_signed(key: bytes, table: str, signed: bytes | None, values: Signable) -> bool:
    """Return True if a row is unchanged since it was signed.

    A value of another type than its column's makes it False: SQLite stores any type in any column.
    """
    try:
        right = values(key) if callable(values) else mac(key, table, values)
        return hmac.compare_digest(signed or b"", right)
    except (TypeError, ValueError, AttributeError):
        return False


def believed(
    session: Informed, keys: RowKeys, table: str, signed: bytes | None, values: Signable
) -> bool:
    """Return True if a row's HMAC matches under a key of its transaction or a current one.

    The keys at the beginning of the transaction are the oldest that its rows can be under, and the
    current ones the newest.
    """
    known: tuple[bytes, ...] = session.info.get(_ACCEPTED, ())
    if any(is_signed(key, table, signed, values) for key in known):
        return True
    added = tuple(key for key in keys.now() if key not in known)
    session.info[_ACCEPTED] = added + known
    return any(is_signed(key, table, signed, values) for key in added)


def accept_present_keys(info: dict[Any, Any]) -> None:
    """Note in ``info`` the keys that rows may be signed under.

    It is called before the first statement, so that no row that it sees is signed under an older
    key.
    """
    keys: RowKeys | None = info.get(KEYS)
    if keys is not None:
        info[_ACCEPTED] = keys.now()


def accept_for_single_row(info: dict[Any, Any]) -> None:
    """Note the same for one statement outside of any transaction, whose rows are remembered.

    Transactions check each row that they load: those that write decide what is drawn and charged.
    """
    keys: RowKeys | None = info.get(KEYS)
    if keys is not None:
        info[_ACCEPTED], info[_VERIFIED] = keys.with_verified()


def accepted_keys(session: Informed) -> tuple[bytes, ...]:
    """Return the keys that rows of a transaction may be signed under, as far as it needed them."""
    return tuple(session.info.get(_ACCEPTED, ()))


def _begun(session: AnySession, *_: object) -> None:
    # A session on a connection joins a transaction that had begun, and whose keys were noted then.
    if _ACCEPTED not in session.info or not isinstance(session.bind, Connection):
        accept_present_keys(session.info)


@cache
def _values(table: str) -> Callable[[object], tuple[Any, ...]]:
    return attrgetter(*columns(table))


def signature(session: AnySession, table: str, row: Mapping[str, Any]) -> bytes | None:
    """Return the HMAC of a row that a statement stores without an entity, from its columns.

    It is None in a session without keys, whose rows nobody checks.
    """
    key = signing_key(session)
    return None if key is None else mac(key, table, [row[name] for name in columns(table)])


def signing_key(session: Informed) -> bytes | None:
    """Return the key that rows are signed under that a statement stores; None without keys.

    It is read once in a transaction, when that holds its locks: a new one is made only by a
    transaction that is alone, and so by none that runs meanwhile.
    """
    info = session.info
    keys: RowKeys | None = info.get(KEYS)
    if keys is not None and _SIGNING not in info:
        info[_SIGNING] = keys.now()[0]
    key: bytes | None = info.get(_SIGNING)
    return key


def _sign(session: AnySession, *_: object) -> None:
    keys: RowKeys | None = session.info.get(KEYS)
    if keys is not None:
        _number(session)
        key = keys.now()[0]
        for row in (*session.new, *session.dirty):
            if isinstance(row, Signed):
                table = str(row.__tablename__)
                row.mac = mac(key, table, _values(table)(row))


def _number(session: AnySession) -> None:
    """Give rows that others will refer to their numbers, which are part of what is signed."""
    new: dict[str, list[Any]] = {}
    for row in session.new:
        if isinstance(row, Numbered) and row.id is None:
            new.setdefault(str(row.__tablename__), []).append(row)
    for table, rows in sorted(new.items()):
        numbers = take_numbers(session.connection(), table, len(rows))
        for row, number in zip(rows, numbers, strict=True):
            row.id = number


def store_signed(
    session: AnySession, kind: type[Signed], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Store signed rows of a table that no others refer to by number, in one statement.

    There is at least one, and each has all columns but its number and its HMAC; what is pending is
    stored before.
    """
    table = str(kind.__tablename__)
    if issubclass(kind, Numbered):
        raise TypeError(f"rows of {table!r} are signed with their numbers")
    session.flush()
    signed = [{**row, "mac": signature(session, table, row)} for row in rows]
    _insert(table, tuple(signed[0])).change_all(session.connection(), signed)


def store_new(session: AnySession, row: Numbered) -> None:
    """Store a new row of a table that others refer to, with its number, and add it to the session.

    The row has a number already, or is given one.

    A flush does the same, and takes three times as long.  Raises ``IntegrityError`` as it does.
    """
    table = str(row.__tablename__)
    session.flush()
    connection = session.connection()
    if row.id is None:
        (row.id,) = take_numbers(connection, table, 1)
    names = [column.name for column in metadata.tables[table].columns]
    # Under the attributes, each of which is a call; a new row has all of its columns.
    state = vars(row)
    values = {name: state[name] for name in names}
    state["mac"] = values["mac"] = signature(session, table, values)
    _insert(table, tuple(names)).change(connection, values)
    make_transient_to_detached(row)
    session.add(row)


@cache
def _insert(table: str, names: Sequence[str]) -> Prepared:
    kinds = metadata.tables[table].columns
    values = {name: bindparam(name, type_=kinds[name].type) for name in names}
    return Prepared(insert(metadata.tables[table]).values(values).inline())


def require_authentic(
    session: Informed, table: str, signed: bytes | None, values: Signable, name: str = ""
) -> None:
    """Raise ``IntegrityViolation`` for a row that was altered since it was signed.

    ``values`` are those of ``columns``, for statements that load columns and no entities; entities
    are checked when they are loaded.
    """
    keys: RowKeys | None = session.info.get(KEYS)
    if keys is not None and not believed(session, keys, table, signed, values):
        what = f"The row of query {name!r}" if name else f"A row of {table!r}"
        raise IntegrityViolation(
            f"{what} was altered outside of this server; it is not used to read or draw anything."
            " Restore the database from a backup."
        )


def signed_columns(table: Table) -> list[Column[Any]]:
    """Return the columns of a table that ``authentic_row`` needs, for a statement without entities.

    Such a statement takes a third of the time.
    """
    return [table.c.mac, *(table.c[name] for name in columns(table.name))]


def authentic_row(session: Informed, table: str, values: Sequence[Any]) -> dict[str, Any] | None:
    """Return an authenticated row by its columns; None if an outer join has none.

    ``values`` are those of ``signed_columns``.  Raises ``IntegrityViolation``.
    """
    signed, *rest = values
    if signed is None and rest.count(None) == len(rest):
        return None
    verified: VerifiedRows | None = session.info.get(_VERIFIED)
    if verified is None:
        require_authentic(session, table, signed, rest)
    elif not verified.has(table, values):
        require_authentic(session, table, signed, rest)
        verified.add(table, values)
    return dict(zip(columns(table), rest, strict=True))


def _loaded(row: Any, context: Any) -> None:
    table = row.__tablename__
    name = row.name if table == "query" else ""
    require_authentic(context.session, table, row.mac, _values(table)(row), name)


def _refreshed(row: Any, context: Any, names: object) -> None:
    if names is None:
        _loaded(row, context)


event.listen(AnySession, "after_begin", _begun)
event.listen(AnySession, "before_flush", _sign)
# For every table with this base, also for those that are imported later.
event.listen(Signed, "load", _loaded, propagate=True)
event.listen(Signed, "refresh", _refreshed, propagate=True)
