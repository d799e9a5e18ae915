"""Examine a home: whether its database and keys can be used, and where they are."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.encryption.secrets import Secrets
from penstock.errors import (
    DatabaseUnavailable,
    InvalidInput,
    KeysUnavailable,
    PenstockError,
    SchemaUnknown,
    Unavailable,
)
from penstock.persistence import migrate
from penstock.persistence.database import Database
from penstock.services import disk_room, witnesses
from penstock.services.jobs import queue
from penstock.services.ledger.undercharged import undercharged
from penstock.services.operations.home import (
    SECRETS,
    open_server,
    provider,
    require,
    utc_now,
    witness,
)
from penstock.services.webhook import outbox
from penstock.settings import Settings
from penstock.transparency_log.background import BackgroundThread
from penstock.transparency_log.sinks.forwarding import sink_of


@dataclass(frozen=True)
class PartView:
    """Hold one part of a home: its name, its place, and its state in words."""

    part: str
    place: str
    state: str
    good: bool


@dataclass(frozen=True)
class StatusView:
    """Hold the state of a home part by part; ``warnings`` are risks in a home that works."""

    parts: list[PartView]
    warnings: list[str]

    @property
    def good(self) -> bool:
        """Return True if the server can be started on this home."""
        return all(part.good for part in self.parts)


def examine(settings: Settings) -> StatusView:
    """Examine a home without changing it.  Raises ``Unavailable`` if there is none."""
    require(settings)
    parts = [
        _part("database", _place(settings), _database(settings)),
        _part("keys", str(settings.keys_path.resolve()), _keys(settings)),
        _part("witness", witnesses.place_of(settings), _witness(settings)),
    ]
    sink = sink_of(settings.log_sink, settings.log_patience)
    if sink is not None:
        parts.append(_part("log sink", settings.log_sink, sink.health))
    own = not settings.database_url
    workers = None if own else _workers(settings)
    if workers is not None:
        parts.append(workers)
    warnings = _warnings(settings) if own else _role_warnings(settings)
    more = (_room_warnings, _clock_warnings, _charge_warnings, _webhook_warnings)
    return StatusView(
        parts,
        [*warnings, *(warning for examine_more in more for warning in examine_more(settings))],
    )


def _part(name: str, place: str, check: Callable[[], str]) -> PartView:
    try:
        return PartView(name, place, check(), good=True)
    except PenstockError as problem:
        return PartView(name, place, problem.detail, good=False)


def _place(settings: Settings) -> str:
    try:
        return migrate.place(settings.resolved_database_url)
    except PenstockError:
        return "(unknown)"


def _database(settings: Settings) -> Callable[[], str]:
    def check() -> str:
        database = Database(
            settings.resolved_database_url,
            busy_timeout_seconds=settings.busy_timeout,
            patience_seconds=settings.database_patience,
            replicated=settings.replicas == "required",
        )
        try:
            database.check_schema()
        except SchemaUnknown as problem:
            raise Unavailable(problem.detail) from problem
        finally:
            database.close()
        return f"schema {migrate.NEWEST}, as this version needs"

    return check


def _keys(settings: Settings) -> Callable[[], str]:
    def check() -> str:
        Secrets.load(settings.keys_path / SECRETS)
        health = provider(settings).health()
        # A problem of the database is reported for the database.
        with suppress(DatabaseUnavailable, SchemaUnknown, InvalidInput):
            open_server(settings).database.close()
        count = len(health.keys)
        return f"{health.provider}, {count} key{'' if count == 1 else 's'}"

    return check


def _witness(settings: Settings) -> Callable[[], str]:
    def check() -> str:
        if not settings.witness_bucket and not settings.witness_path.is_dir():
            raise Unavailable("The folder is missing; restore it, or create it.")
        try:
            eye = witness(settings)
        except KeysUnavailable:
            return "unknown without the secrets"  # the problem is reported for the keys
        try:
            look = BackgroundThread("witness").submit(eye.seen)
            size = look.result(timeout=settings.log_patience).size
        except TimeoutError:
            raise Unavailable(
                f"It does not answer within {settings.log_patience:g} s; check its disk or bucket."
            ) from None
        suspended = None
        # A problem of the database or the keys is reported for these.
        with suppress(DatabaseUnavailable, SchemaUnknown, InvalidInput, KeysUnavailable):
            server = open_server(settings)
            suspended = server.sequencer.suspended
            server.database.close()
        if suspended is not None:
            raise Unavailable(suspended)
        return f"saw {size} leaves of the log"

    return check


def _workers(settings: Settings) -> PartView | None:
    """Return what serves the queue of jobs; None without a queue, or if it cannot be read."""
    # A problem of the database or the keys is reported for these.
    with suppress(PenstockError):
        server = open_server(settings)
        try:
            state = queue.state(server)
        finally:
            server.database.close()
        if state is not None:
            return PartView(
                "workers", _place(settings), queue.in_words(state, utc_now()), good=True
            )
    return None


def _warnings(settings: Settings) -> list[str]:
    warnings = []
    database = _disk(settings.database_path)
    for folder, warning in ((settings.keys_path, _KEYS), (settings.witness_path, _WITNESS)):
        if database is not None and _disk(folder) == database:
            warnings.append(warning)
    return warnings


def _role_warnings(settings: Settings) -> list[str]:
    try:
        database = Database(
            settings.resolved_database_url,
            busy_timeout_seconds=settings.busy_timeout,
            patience_seconds=settings.database_patience,
        )
        try:
            return [_ROLE] if database.unprotected() else []
        finally:
            database.close()
    except PenstockError:
        return []  # a problem of the database is reported for the database


def _room_warnings(settings: Settings) -> list[str]:
    # A problem of the database or the keys is reported for these.
    with suppress(PenstockError):
        server = open_server(settings)
        warning = disk_room.of(settings, server.database).warning()
        server.database.close()
        return [warning] if warning is not None else []
    return []


def _clock_warnings(settings: Settings) -> list[str]:
    # A problem of the database or the keys is reported for these.
    with suppress(PenstockError):
        server = open_server(settings)
        difference = server.clock.difference()
        server.database.close()
        return [difference.sentence] if difference is not None else []
    return []


def _charge_warnings(settings: Settings) -> list[str]:
    # A problem of the database or the keys is reported for these.
    with suppress(PenstockError):
        server = open_server(settings)
        try:
            with server.database.read() as session:
                underchargeds = undercharged(session)
        finally:
            server.database.close()
        return [
            f"Charged less than its queries cost under its budget: {charge.sentence}."
            + (
                f" {charge.refusal} {_LEFT}"
                if charge.refusal
                else " `penstock db upgrade` charges it."
            )
            for charge in underchargeds
        ]
    return []


def _webhook_warnings(settings: Settings) -> list[str]:
    if not settings.webhook_url:
        return []
    # A problem of the database or the keys is reported for these.
    with suppress(PenstockError):
        server = open_server(settings)
        try:
            backlog = outbox.backlog(server)
        finally:
            server.database.close()
        if backlog.failing or backlog.given_up:
            sentence = (
                f"Messages that the webhook has not taken: {backlog.failing} that are tried again,"
                f" {backlog.given_up} that were given up. `penstock webhook list` shows its"
                " answers, and `penstock webhook retry` sends the latter again."
            )
            return [sentence]
    return []


_LEFT = (
    "Until there is room, the loss to the tier's readers is bounded by its epsilon with a delta"
    " that is larger by the missing charge."
)
_ROLE = (
    "The server's role in the database may change history, and only triggers stand in its way."
    " Let another role own the database, name it in PENSTOCK_MIGRATION_DATABASE_URL, and run"
    " `penstock db upgrade`: it leaves the server's role what it needs."
)
_KEYS = (
    "The keys share a disk with the database: anybody who takes that disk, or a backup of it, can"
    " read the encrypted data. Move them to another disk and name it in PENSTOCK_KEYS_FOLDER."
)
_WITNESS = (
    "The witness shares a disk with the database: if an old copy of that disk is restored, nobody"
    " notices. Move it to another disk and name that in PENSTOCK_WITNESS_FOLDER."
)


def _disk(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None
