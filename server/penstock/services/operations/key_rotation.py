"""Rotate the provider's keys while the server runs, and destroy a dataset's keys.

Each dataset's key is wrapped by a key of its own at the provider.  Rotation makes a new one for
each and wraps the dataset's key with it.  The old ones are *retired*: earlier backups need them,
and requests that read a row before it changed.  They are kept until an operator, who knows that no
such backup is needed any more, drops them (``retired_keys``).  After an interruption, rotating
again continues.

A dataset that was shredded cannot be read again, from any backup: its key at the provider
is gone.  What was released stays in the log, and what it cost stays spent.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.encryption.hierarchy import dataset_context, wrapping_key
from penstock.encryption.providers import KeyProvider
from penstock.encryption.signing import signing_context
from penstock.errors import Conflict
from penstock.persistence.locks import lock_dataset
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import LogKey
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.context import Server
from penstock.services.datasets.fingerprints import keep_fingerprint
from penstock.services.ledger.version_chains import versions_named
from penstock.services.noise.keys import identity
from penstock.services.noise.long_vectors import abandoned
from penstock.services.releases.logged_queries import record_shredding


@dataclass(frozen=True)
class KeyUseView:
    """Hold the provider's key of one version of a dataset; None once the version is shredded."""

    dataset: str
    version: int
    key: str | None


@dataclass(frozen=True)
class RetiredKeyView:
    """Hold a key that no row needs any more, and the dataset version that it belonged to.

    ``dataset`` and ``version`` are None for the log's signing key, and for a key that was shared by
    all datasets.
    """

    key: str
    dataset: str | None
    version: int | None


@dataclass(frozen=True)
class KeysView:
    """Hold the provider, its number of keys, those in use, and those that backups alone need."""

    provider: str
    keys: int
    used: list[KeyUseView]
    retired: list[RetiredKeyView]


@dataclass(frozen=True)
class Forgotten:
    """Hold the versions of a dataset whose rows name no keys any more.

    ``contexts`` are those of the provider's keys that have to be destroyed; ``fresh`` is True if a
    row still named one.  ``attempts`` have the chunks of its long vectors.
    """

    dataset: str
    versions: list[int]
    queries: int
    contexts: list[bytes]
    fresh: bool
    attempts: list[str]


@dataclass(frozen=True)
class ShreddedView:
    """Hold what was destroyed: the versions of a dataset, and the provider's keys to them."""

    dataset: str
    versions: list[int]
    queries: int
    keys: int


def show(server: Server, principal: Principal) -> KeysView:
    """Return the keys in use.  Raises ``Forbidden`` and ``KeysUnavailable``."""
    principal.require("admin")
    health = server.provider.health()
    with server.database.read() as session:
        kept = retired(session, server.provider)
        return KeysView(health.provider, len(health.keys), used(session), kept)


def used(session: Session) -> list[KeyUseView]:
    """Return the provider's key of each version of a dataset."""
    return [
        KeyUseView(
            dataset.name,
            dataset.version,
            wrapping_key(dataset.wrapped_kek) if dataset.wrapped_kek else None,
        )
        for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all()
    ]


def in_use(session: Session) -> set[str]:
    """Return the names of the provider's keys that wrap something in the database."""
    signing = session.exec(select(LogKey)).all()
    named = {use.key for use in used(session) if use.key is not None}
    return named | {wrapping_key(signing_row.wrapped) for signing_row in signing}


def retired(session: Session, provider: KeyProvider) -> list[RetiredKeyView]:
    """Return the provider's keys that backups alone may need.  Raises ``KeysUnavailable``.

    The newest key of a dataset is not among them: its row may be about to be stored.
    """
    needed = in_use(session)
    retired_keys = [
        RetiredKeyView(key, dataset.name, dataset.version)
        for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all()
        for key in provider.keys_of(dataset_context(identity(dataset)))[:-1]
    ]
    for row in session.exec(select(LogKey)).all():
        old = provider.keys_of(signing_context(row.public))[:-1]
        retired_keys += [RetiredKeyView(key, None, None) for key in old]
    retired_keys += [RetiredKeyView(key, None, None) for key in provider.shared()]
    return [candidate for candidate in retired_keys if candidate.key not in needed]


def readable(server: Server, name: str) -> bool:
    """Return True if any version of a dataset can still be read.  Raises ``NotFound``."""
    with server.database.read() as session:
        return bool(versions(session, name))


def rotate(server: Server, principal: Principal) -> KeysView:
    """Replace each of the provider's keys with a new one; the old ones are kept, retired.

    Raises ``Forbidden`` and ``KeysUnavailable``; the keys that were rotated before the error stay
    rotated, and nothing is lost.
    """
    principal.require("admin")
    with server.database.read() as session:
        kept = select(Dataset.id).where(col(Dataset.wrapped_kek) != b"").order_by(col(Dataset.id))
        dataset_ids = [required(key) for key in session.exec(kept).all()]
    contexts = []
    for key in dataset_ids:
        with server.database.write() as session:
            lock_dataset(session, key)
            dataset = session.get_one(Dataset, key)
            if not dataset.wrapped_kek:
                continue  # shredded in the meantime
            context = dataset_context(identity(dataset))
            server.provider.renew(context)
            dataset.wrapped_kek = server.provider.rewrap(dataset.wrapped_kek, context)
            contexts.append(context)
    contexts += _signing(server)
    with server.database.write() as session:
        record(session, principal, "key", server.clock(), rotated=len(contexts))
    return show(server, principal)


def _signing(server: Server) -> list[bytes]:
    """Wrap the log's signing keys again.  The keys stay the same: readers know them."""
    contexts = []
    with server.database.write() as session:
        for key in session.exec(select(LogKey)).all():
            contexts.append(signing_context(key.public))
            server.provider.renew(contexts[-1])
            key.wrapped = server.provider.rewrap(key.wrapped, contexts[-1])
            session.add(key)
    return contexts


def shred(server: Server, principal: Principal, name: str) -> ShreddedView:
    """Destroy the keys of all versions of a dataset, forever.

    Its queries are retired, their states and releases become unreadable; ledger and log stay, and
    no file of it can be registered under another name.  Called again, it completes what was
    interrupted.  Raises ``Forbidden``, ``NotFound``, ``ApprovalNeeded`` and
    ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        forgotten = forget(session, server, principal, name)
        if forgotten.fresh:
            require_second(server)
    # Committed first: a crash here leaves keys that no row names, and shredding again destroys
    # them.  In the other order, rows would name keys that are gone.
    return destroy(server, forgotten)


def versions(session: Session, name: str) -> list[int]:
    """Return the versions of a dataset that can still be read."""
    return [version.version for version in versions_named(session, name) if version.wrapped_kek]


def forget(session: Session, server: Server, principal: Principal, name: str) -> Forgotten:
    """Remove the keys of a dataset from its rows, as a part of a transaction.

    Call ``destroy`` after the commit.  Raises ``NotFound``.
    """
    datasets = versions_named(session, name)
    if in_use(session).intersection(server.provider.shared()):
        raise Conflict(
            "The key ring still has one key for all datasets, as earlier versions had, and"
            " destroying it would take all of them. Run `penstock keys rotate` first."
        )
    fresh = any(dataset.wrapped_kek for dataset in datasets)
    now = server.clock()
    return Forgotten(
        dataset=datasets[0].name,
        versions=[dataset.version for dataset in datasets],
        queries=sum(_forget(session, server, principal, dataset, now) for dataset in datasets),
        contexts=[dataset_context(identity(dataset)) for dataset in datasets],
        fresh=fresh,
        attempts=[
            attempt for dataset in datasets for attempt in abandoned.named(session, dataset.id)
        ],
    )


def destroy(server: Server, forgotten: Forgotten) -> ShreddedView:
    """Destroy the provider's keys of a dataset whose rows no longer name them.

    The chunks that they would open are removed as well.
    """
    keys = sum(len(server.provider.destroy(context)) for context in forgotten.contexts)
    # A key that all datasets shared would open this dataset in backups from before the first
    # rotation.
    keys += len(server.provider.drop(server.provider.shared()))
    # Here at once; other processes drop theirs when ``kept_keys.SECONDS`` are over.
    server.keys.forget()
    abandoned.remove_all(server, forgotten.attempts)
    return ShreddedView(forgotten.dataset, forgotten.versions, forgotten.queries, keys)


def _forget(
    session: Session, server: Server, principal: Principal, dataset: Dataset, now: datetime
) -> int:
    """Clear everything in the rows that the dataset's key would open."""
    if not dataset.wrapped_kek:
        return 0
    keep_fingerprint(server, dataset)
    dataset.sealed_salt = None
    dataset.wrapped_kek = b""
    queries = session.exec(
        select(Query).where(col(Query.dataset_id) == dataset.id, col(Query.status) != "retired")
    ).all()
    for query in queries:
        query.status = "retired"
        session.add(query)
    session.add(dataset)
    record_shredding(session, principal, dataset, now)
    return len(queries)
