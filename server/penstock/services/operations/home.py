"""Create a home folder, and open the server that lives in it."""

import importlib.util
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from penstock.encryption import private
from penstock.encryption.keyring import KeyRing
from penstock.encryption.pkcs11_provider import Pkcs11
from penstock.encryption.providers import KeyProvider
from penstock.encryption.secrets import Secrets, SecretsFile
from penstock.errors import Conflict, Unavailable
from penstock.persistence import migrate, row_authentication, row_authentication_upgrade
from penstock.persistence.database import Database
from penstock.services import disk_room, witnesses
from penstock.services.context import Server
from penstock.services.noise.keys import require_keys
from penstock.services.operations import secret_checks
from penstock.settings import Settings
from penstock.transparency_log import leaves, sights
from penstock.transparency_log.logged_time import LoggedTime
from penstock.transparency_log.sequencer import Sequencer
from penstock.transparency_log.witness.bucket_witness import BucketWitness
from penstock.transparency_log.witness.file_witness import FILE, FileWitness, Witness

if TYPE_CHECKING:
    from penstock.openid.issuer import Issuer
    from penstock.openid.relying_party import RelyingParty
    from penstock.randomness.stream import Stream

KEY_RING = "keyring.json"
SECRETS = "secrets.json"
PIN = "pin"

RETURN = "/sign-in/return"
"""The path to which the OpenID provider sends people back."""

DRAWING_THREADS = 4
"""A long vector is drawn on as many threads, or on as many as there are processors."""


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


def create(settings: Settings) -> list[Path]:
    """Make the folders, the keys and the database of a new home.

    Raises ``Conflict`` if there is a home already, and then changes nothing.
    """
    folders = [settings.keys_path]
    if not settings.witness_bucket:
        folders.append(settings.witness_path)
    if not settings.database_url:
        folders.insert(0, settings.database_path)
    present = [
        path
        for path in (
            settings.keys_path / KEY_RING,
            settings.database_path / "penstock.db",
            settings.witness_path / FILE,
        )
        if path.exists()
    ]
    if present:
        raise Conflict(
            f"There is a home already: {present[0]} exists. Nothing was changed;"
            " name another folder in PENSTOCK_HOME, or use the one that is there."
            " If an earlier init was interrupted, `penstock db upgrade` completes it."
        )
    if settings.witness_bucket and _has_records(settings):
        raise Conflict(
            f"The bucket of PENSTOCK_WITNESS_BUCKET, {settings.witness_bucket}, has the witness of"
            " another log. Nothing was changed; name another prefix, or use the home that it is of."
        )
    if settings.database_url and migrate.occupied(settings.resolved_migration_url):
        raise Conflict(
            "The database of PENSTOCK_DATABASE_URL is in use already, under keys that belong to"
            " it. Nothing was changed; bring those keys and name their folder in"
            " PENSTOCK_KEYS_FOLDER, or name an empty database."
        )
    try:
        for folder in folders:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise Unavailable(
            f"The folder {folder} cannot be made: {problem.strerror}."
            " Choose a PENSTOCK_HOME that this account may write to."
        ) from problem
    Secrets.create(settings.keys_path / SECRETS)
    if settings.key_provider == "keyring":
        KeyRing.create(settings.keys_path / KEY_RING)
    provider(settings).health()
    upgrade(settings)
    return folders


def upgrade(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the database to this version's schema; return the revisions before and after.

    The database's owner runs it, and grants the server's role what it needs and no more.  A
    database that has no checks of its secrets yet stores those of this home's secrets, and rows
    that have no signature yet are signed.  Raises as ``migrate.upgrade`` does,
    ``KeysUnavailable``, and ``IntegrityViolation`` for a query that was altered.
    """
    secrets = Secrets.load(settings.keys_path / SECRETS)
    eye = witnesses.of(settings, lambda: secrets)

    def finish(connection: Connection, before: str | None) -> None:
        _sign(connection, secrets, before)
        # Before the commit, so that after an interrupted upgrade it is either done or still due.
        if isinstance(eye, FileWitness):
            _take_over(eye, settings.witness_path, before)

    from penstock.transparency_log import bootstrap

    revisions = migrate.upgrade(
        settings.resolved_migration_url,
        application_url=settings.resolved_database_url,
        finish=finish,
    )
    database = _database(settings)
    try:
        secret_checks.remember(database, secrets)
        seeing = _seeing(settings, lambda: secrets, database)
        bootstrap.prepare(database, provider(settings), seeing, utc_now())
    finally:
        database.close()
    return revisions


def _sign(connection: Connection, secrets: Secrets, before: str | None) -> None:
    """Sign the rows that are unsigned, and those under a rotated key of rows."""
    was = row_authentication.derived(secret_checks.values_of(connection, secrets))
    row_authentication_upgrade.sign_all(connection, was, before)
    now = row_authentication.derived(secrets.values)
    if was != now:
        row_authentication_upgrade.sign_anew(connection, [was], now)


def _take_over(eye: FileWitness, folder: Path, before: str | None) -> None:
    """Convert the witness of a database whose schema was ``before`` to this version.

    A witness that does not authenticate is converted with a database of that time, and never later.
    """
    if before is None or before >= sights.AUTHENTICATED_SINCE:
        return
    if before < sights.WITNESSED_SINCE:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    eye.take_over()


def provider(settings: Settings) -> KeyProvider:
    """Return the key provider.  Raises ``KeysUnavailable``."""
    if settings.key_provider == "keyring":
        return KeyRing.load(settings.keys_path / KEY_RING)
    pin = settings.pkcs11_pin_file or settings.keys_path / PIN
    return Pkcs11(settings.pkcs11_module or Path(), settings.pkcs11_token, pin)


def witness(settings: Settings) -> FileWitness | BucketWitness:
    """Return the log's witness.  Raises ``KeysUnavailable``."""
    secrets = Secrets.load(settings.keys_path / SECRETS)
    return witnesses.of(settings, lambda: secrets)


def _has_records(settings: Settings) -> bool:
    def none() -> Secrets:
        raise LookupError("names of records need no secret")

    witness = witnesses.of(settings, none)
    return isinstance(witness, BucketWitness) and witness.exists()


def _seeing(settings: Settings, secrets: Callable[[], Secrets], database: Database) -> Witness:
    """Return the witness, combined with the log's second place if there is one."""
    eye = witnesses.of(settings, secrets)
    if not settings.log_sink:
        return eye
    from penstock.transparency_log.sinks.forwarding import ForwardingWitness, sink_of

    sink = sink_of(settings.log_sink, settings.log_patience)
    return eye if sink is None else ForwardingWitness(eye, sink, database)


def require(settings: Settings) -> None:
    """Raise ``Unavailable`` if there is no home."""
    if not settings.keys_path.exists() and not settings.database_path.exists():
        raise Unavailable(
            f"There is no home at {settings.home}. Run `penstock init`,"
            " or name the right folder in PENSTOCK_HOME."
        )


def fresh_stream() -> "Stream":
    """Return a stream of new random bits, from the operating system's generator.

    The samplers are imported when the first one is drawn: most commands draw nothing.
    """
    from penstock.randomness.stream import Stream

    return Stream.fresh(threads=min(os.cpu_count() or 1, DRAWING_THREADS))


def open_server(
    settings: Settings,
    *,
    clock: Callable[[], datetime] = utc_now,
    randomness: "Callable[[], Stream]" = fresh_stream,
    nonces: Callable[[int], bytes] = os.urandom,
) -> Server:
    """Open the server of an existing home.

    ``nonces`` draws random bytes for a leaf of the log: a person who can guess them can find the
    content of others' leaves from their hashes.

    Raises ``KeysUnavailable``, ``DatabaseUnavailable`` and ``SchemaUnknown``, each with
    what to do next.
    """
    require(settings)
    stored = SecretsFile(settings.keys_path / SECRETS)
    for name in (SECRETS, KEY_RING):
        private.tidy(settings.keys_path / name)
    database = _database(
        settings,
        {
            row_authentication.KEYS: row_authentication.RowKeys(lambda: stored.now.of_rows()),
            leaves.NONCES: nonces,
        },
    )
    keeper = provider(settings)
    time, issuer = LoggedTime(clock), _issuer(settings)
    database.watch = sequencer = Sequencer(
        database,
        keeper,
        _seeing(settings, lambda: stored.now, database),
        time,
        settings.log_patience,
    )
    server = Server(
        settings=settings,
        database=database,
        sequencer=sequencer,
        provider=keeper,
        stored=stored,
        clock=time,
        randomness=randomness,
        issuer=issuer,
        relying_party=_relying_party(settings, issuer),
    )
    server.database.check_schema()
    database.keeper = disk_room.of(settings, database)
    if settings.cosigners:
        from penstock.services.audit import cosigners

        cosigners.configured(settings)
    secret_checks.require(server.database, server.secrets)
    require_keys(server)
    witnesses.require_locked(settings, lambda: stored.now, clock())
    sequencer.examine()
    return server


def _issuer(settings: Settings) -> "Issuer | None":
    if not settings.oidc_issuer:
        return None
    if importlib.util.find_spec("joserfc") is None:
        raise Unavailable(
            "Tokens of an OpenID provider need the package joserfc:"
            " run `pip install 'penstock[oidc]'`, or unset PENSTOCK_OIDC_ISSUER."
        )
    from penstock.openid.issuer import Issuer

    return Issuer(settings.oidc_issuer, settings.oidc_audience, settings.oidc_claim)


def _relying_party(settings: Settings, issuer: "Issuer | None") -> "RelyingParty | None":
    if not settings.oidc_client_id or issuer is None:
        return None
    if importlib.util.find_spec("authlib") is None:
        raise Unavailable(
            "Sign-in at an OpenID provider needs the package authlib:"
            " run `pip install 'penstock[oidc]'`, or unset PENSTOCK_OIDC_CLIENT_ID."
        )
    from penstock.openid.relying_party import Registration, RelyingParty

    return RelyingParty(
        issuer,
        Registration(
            settings.oidc_client_id,
            settings.oidc_client_secret,
            settings.public_url.rstrip("/") + RETURN,
            settings.oidc_scopes,
            settings.oidc_claim,
            settings.oidc_groups_claim,
        ),
    )


def _database(settings: Settings, info: Mapping[str, object] | None = None) -> Database:
    """Return the database; ``info`` is attached to its sessions."""
    return Database(
        settings.resolved_database_url,
        busy_timeout_seconds=settings.busy_timeout,
        patience_seconds=settings.database_patience,
        replicated=settings.replicas == "required",
        info=info,
    )
