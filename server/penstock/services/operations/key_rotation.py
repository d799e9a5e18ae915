"""Replacing the provider's keys while the server runs, and destroying a dataset's.

A dataset's key is wrapped by a key of its own at the provider.  Rotation makes a new one for
each and wraps anew.  The old ones are *retired*: backups that were made before need them, and
requests that read a row before it changed.  They are kept until whoever knows that no such
backup is wanted any more drops them (``retired_keys``).  Run again after an interruption, it
goes on.

A dataset that was shredded cannot be read again, from any backup: its key at the provider
is gone.  What was released stays in the log, and what it cost stays spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.encryption import KeyProvider, dataset_context, signing_context, wrapping_key
from penstock.errors import Conflict, NotFound
from penstock.persistence import Need, lock_dataset
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, LogKey, Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.context import Server
from penstock.services.datasets.fingerprints import keep_fingerprint
from penstock.services.noise.keys import identity
from penstock.services.releases.logged_queries import record_shredding
from penstock.spec_fields import folded


@dataclass(frozen=True)
class KeyUseView:
    """Which of the provider's keys keeps a version of a dataset; ``None`` once shredded."""

    dataset: str
    version: int
    key: str | None


@dataclass(frozen=True)
class RetiredKeyView:
    """A key that no row needs any more, and whose it was.

    ``dataset`` and ``version`` are ``None`` for what signs the log, and for a key that was
    everybody's.
    """

    key: str
    dataset: str | None
    version: int | None


@dataclass(frozen=True)
class KeysView:
    """The provider, how many keys it has, which are in use, and which for backups alone."""

    provider: str
    keys: int
    used: list[KeyUseView]
    retired: list[RetiredKeyView]


@dataclass(frozen=True)
class Forgotten:
    """Versions of a dataset that no row names keys of any more.

    ``contexts`` are those of the provider's keys, which are to be destroyed; ``fresh`` says
    that one was still named.
    """

    dataset: str
    versions: list[int]
    queries: int
    contexts: list[bytes]
    fresh: bool


@dataclass(frozen=True)
class ShreddedView:
    """What was destroyed: the versions of a dataset, and the provider's keys to them."""

    dataset: str
    versions: list[int]
    queries: int
    keys: int


def show(server: Server, principal: Principal) -> KeysView:
    """The keys in use.  Raises ``Forbidden`` and ``KeysUnavailable``."""
    principal.require("admin")
    health = server.provider.health()
    with server.database.read() as session:
        kept = retired(session, server.provider)
        return KeysView(health.provider, len(health.keys), used(session), kept)


def used(session: Session) -> list[KeyUseView]:
    """Which of the provider's keys keeps which version of a dataset."""
    return [
        KeyUseView(
            dataset.name,
            dataset.version,
            wrapping_key(dataset.wrapped_kek) if dataset.wrapped_kek else None,
        )
        for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all()
    ]


def in_use(session: Session) -> set[str]:
    """The names of the provider's keys under which something in the database is wrapped."""
    signing = session.exec(select(LogKey)).all()
    named = {use.key for use in used(session) if use.key is not None}
    return named | {wrapping_key(signing_row.wrapped) for signing_row in signing}


def retired(session: Session, provider: KeyProvider) -> list[RetiredKeyView]:
    """The provider's keys that backups alone may need.  Raises ``KeysUnavailable``.

    The newest key of a dataset is none of them: its row may be about to be stored.
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
    """Whether any version of a dataset can still be read.  Raises ``NotFound``."""
    with server.database.read() as session:
        return bool(versions(session, name))


def rotate(server: Server, principal: Principal) -> KeysView:
    """Put a new key in the place of each of the provider's; the old ones are kept, retired.

    Raises ``Forbidden`` and ``KeysUnavailable``; what was done until then stays done, and
    nothing is lost.
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
                continue  # shredded meanwhile
            context = dataset_context(identity(dataset))
            server.provider.renew(context)
            dataset.wrapped_kek = server.provider.rewrap(dataset.wrapped_kek, context)
            contexts.append(context)
    contexts += _signing(server)
    with server.database.write() as session:
        record(session, principal, "key", server.clock(), rotated=len(contexts))
    return show(server, principal)


def _signing(server: Server) -> list[bytes]:
    """Wrap the keys that sign the log anew.  They stay what they are: readers know them."""
    contexts = []
    with server.database.write() as session:
        for key in session.exec(select(LogKey)).all():
            contexts.append(signing_context(key.public))
            server.provider.renew(contexts[-1])
            key.wrapped = server.provider.rewrap(key.wrapped, contexts[-1])
            session.add(key)
    return contexts


def shred(server: Server, principal: Principal, name: str) -> ShreddedView:
    """Destroy the keys of all versions of a dataset, for ever.

    Its queries are retired, their states and releases unreadable; ledger and log stay, and
    no file of it can be registered under another name.  Done again, it finishes what was
    interrupted.  Raises ``Forbidden``, ``NotFound``, ``ApprovalNeeded`` and
    ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        forgotten = forget(session, server, principal, name)
        if forgotten.fresh:
            require_second(server)
    # Committed first: a crash here leaves keys that nothing names, and shredding again
    # destroys them.  The other way round, rows would name keys that are gone.
    return destroy(server, forgotten)


def versions(session: Session, name: str) -> list[int]:
    """The versions of a dataset that can still be read."""
    return [version.version for version in _versions(session, name) if version.wrapped_kek]


def forget(session: Session, server: Server, principal: Principal, name: str) -> Forgotten:
    """Let no row name the keys of a dataset, as a part of a transaction.

    Once that is committed, ``destroy`` is to follow.  Raises ``NotFound``.
    """
    datasets = _versions(session, name)
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
    )


def destroy(server: Server, forgotten: Forgotten) -> ShreddedView:
    """Destroy the provider's keys of a dataset whose rows name them no more."""
    keys = sum(len(server.provider.destroy(context)) for context in forgotten.contexts)
    # One that was everybody's would open what backups from before the first rotation hold of it.
    keys += len(server.provider.drop(server.provider.shared()))
    return ShreddedView(forgotten.dataset, forgotten.versions, forgotten.queries, keys)


def _versions(session: Session, name: str) -> Sequence[Dataset]:
    datasets = session.exec(
        select(Dataset).where(col(Dataset.folded) == folded(name)).order_by(col(Dataset.version))
    ).all()
    if not datasets:
        raise NotFound(f"There is no dataset {name!r}.")
    return datasets


def _forget(
    session: Session, server: Server, principal: Principal, dataset: Dataset, now: datetime
) -> int:
    """Take everything out of the rows that the dataset's key would open."""
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
