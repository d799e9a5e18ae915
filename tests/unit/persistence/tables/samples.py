"""Provide one row of every table, for tests of the schema."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlmodel import Session, SQLModel
from tests.databases.homes import Home, Homes

from penstock.persistence import Database, migrate, tables

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


SAMPLES: dict[str, dict[str, object]] = {
    "tier": {"name": "Public", "folded": "public", "rank": 10, "created_at": NOON},
    "user": {"name": "Ada", "folded": "ada", "analyst": True, "created_at": NOON},
    "clearance": {"user_id": 1, "version": 1, "tier_id": 1, "at": NOON, "by": "root"},
    "token": {
        "prefix": "abcdefgh",
        "user_id": 1,
        "digest": bytes(32),
        "scopes": "",
        "created_at": NOON,
        "expires_at": NOON,
    },
    "dataset": {
        "name": "flights",
        "folded": "flights",
        "version": 1,
        "spec": "{}",
        "neighboring": "add_remove",
        "delta": 1e-6,
        "wrapped_kek": b"wrapped",
        "created_at": NOON,
        "by": "root",
    },
    "former_declaration": {"dataset_id": 1, "number": 1, "spec": "{}", "at": NOON, "by": "root"},
    "tier_budget": {
        "dataset_id": 1,
        "tier_id": 1,
        "version": 1,
        "epsilon": 1.0,
        "delta": 1e-6,
        "order": 29.0,
        "limit_loss": 1 << 40,
        "limit_failure": 1 << 40,
        "at": NOON,
        "by": "root",
    },
    "query": {
        "name": "by carrier",
        "folded": "by carrier",
        "dataset_id": 1,
        "canonical_hash": "00",
        "spec": "{}",
        "mechanism": "gaussian",
        "calibration": 1,
        "granularity": "1/8192",
        "dimension": 2,
        "sensitivity_l1": "1/1",
        "sensitivity_l2_squared": "1/1",
        "sensitivity_linf": "1/1",
        "ladder_finest": "123456789012345678901234567890",
        "ladder_unit": "1/67108864",
        "ladder_doubling": 709,
        "ladder_last": 9000,
        "ceiling": 4000,
        "max_levels": 16,
        "status": "active",
        "seq": 0,
        "wrapped_dek": b"wrapped",
        "created_at": NOON,
        "by": "root",
    },
    "query_level": {
        "query_id": 1,
        "tier_id": 1,
        "version": 1,
        "rung": 4000,
        "at": NOON,
        "by": "root",
    },
    "release": {
        "public_id": "r0",
        "query_id": 1,
        "rung": 4000,
        "seq": 0,
        "ciphertext": b"sealed",
        "created_at": NOON,
    },
    "leaf": {
        "bytes": b"{}",
        "hash": bytes(32),
        "kind": "release",
        "at": NOON,
        "actor": "Ada",
        "user": "Ada",
    },
    "grant": {"user_id": 1, "release_id": 1, "tier_id": 1, "leaf_id": 1, "at": NOON},
    "charge": {
        "dataset_id": 1,
        "tier_id": 1,
        "seq": 0,
        "query_id": 1,
        "rung": 4000,
        "order": 29.0,
        "loss": 1 << 33,
        "failure": 5,
        "loss_total": 1 << 33,
        "failure_total": 5,
        "at": NOON,
    },
    "idempotency": {
        "user_id": 1,
        "key": "k1",
        "request": bytes(32),
        "started_at": NOON,
        "expires_at": NOON,
    },
    "group_mapping": {
        "issuer": "https://id.example.org",
        "group_name": "staff",
        "version": 1,
        "roles": "analyst",
        "tier_id": 1,
        "at": NOON,
        "by": "root",
    },
    "invitation": {
        "prefix": "abcdefgh",
        "digest": bytes(32),
        "name": "new",
        "folded": "new",
        "roles": "analyst",
        "tier_id": 1,
        "by": "root",
        "inviter_id": 1,
        "parent_id": 1,
        "created_at": NOON,
        "expires_at": NOON + timedelta(days=1),
    },
    "wording": {
        **dict.fromkeys(("title", "description", "measured_in", "tags", "labels", "owners"), "{}"),
        "query_id": 1,
        "version": 1,
        "at": NOON,
        "by": "root",
    },
    "provider_account": {
        "user_id": 1,
        "issuer": "https://id.example.org",
        "subject": "7",
        "follows": True,
        "created_at": NOON,
    },
    "used_once": {"digest": bytes(32), "expires_at": NOON},
    "web_session": {
        "digest": bytes(32),
        "user_id": 1,
        "token_id": 1,
        "scopes": "",
        "started_at": NOON,
        "seen_at": NOON,
        "expires_at": NOON + timedelta(hours=12),
    },
    "work": {
        "public_id": "w0",
        "user_id": 1,
        "key": "k1",
        "request": bytes(32),
        "kind": "register_query",
        "subject": "visits",
        "fields": "name=visits",
        "state": "running",
        "attempt": 1,
        "stage": "counting",
        "percent": 7,
        "host": "here",
        "started_at": NOON,
        "beat_at": NOON,
        "expires_at": NOON + timedelta(days=7),
    },
    "schedule": {
        "name": "Nightly",
        "folded": "nightly",
        "user_id": 1,
        "spec": "{}",
        "next_at": NOON,
        "created_at": NOON,
    },
    "occurrence": {"schedule_id": 1, "due_at": NOON, "state": "pending"},
    "histogram_state": {"query_id": 1, "seq": 0, "ciphertext": b"sealed"},
    "stream_state": {"query_id": 1, "step": 3, "ciphertext": b"sealed"},
    "stream_output": {
        "query_id": 1,
        "rung": 4000,
        "first": 1,
        "last": 3,
        "ciphertext": b"sealed",
        "created_at": NOON,
    },
    "fed_element": {"query_id": 1, "dataset_id": 1, "step": 1, "created_at": NOON},
    "secret_check": {"name": "pepper", "digest": bytes(32)},
    "edition": {"id": 1, "value": "first"},
    "allowance": {
        "dataset_id": 1,
        "tier_id": 1,
        "version": 1,
        "epsilon": 0.5,
        "delta": 1e-6,
        "order": 57.0,
        "limit_loss": 1 << 39,
        "limit_failure": 1 << 40,
        "spent_loss": 0,
        "spent_failure": 0,
        "at": NOON,
        "by": "root",
    },
    "allowance_charge": {
        "allowance_id": 1,
        "seq": 0,
        "query_id": 1,
        "rung": 4000,
        "loss": 5,
        "failure": 5,
        "loss_total": 5,
        "failure_total": 5,
        "at": NOON,
    },
    "spent_floor": {"dataset_id": 1, "tier_id": 1, "loss": 1, "failure": 1, "at": NOON},
    "tree_node": {"level": 1, "position": 0, "hash": bytes(32)},
    "log_key": {"public": bytes(32), "wrapped": b"wrapped", "created_at": NOON},
    "proposal": {
        "public_id": "p0",
        "act": "delete_tier",
        "request": "{}",
        "basis": "{}",
        "by": "root",
        "at": NOON,
        "expires_at": NOON + timedelta(days=7),
    },
    "decision": {
        "proposal_id": 1,
        "outcome": "approved",
        "proposed_by": "root",
        "by": "Ada",
        "at": NOON,
    },
    "checkpoint": {"size": 1, "root": bytes(32), "note": "signed", "log_key_id": 1},
    "cosignature": {
        "checkpoint_id": 1,
        "name": "cosigner",
        "public": bytes(32),
        "signed_at": 1,
        "signature": bytes(64),
    },
    "request": {"dataset_id": 1, "canonical_hash": "0" * 64, "turn": 1, "at": NOON},
    "asker": {
        "public_id": "a0",
        "request_id": 1,
        "user_id": 1,
        "turn": 1,
        "spec": "{}",
        "purpose": "The yearly report",
        "at": NOON,
    },
    "withdrawal": {"asker_id": 1, "at": NOON},
    "request_comment": {"request_id": 1, "by": "root", "comment": "Why?", "at": NOON},
    "delivery": {
        "public_id": "d0",
        "event": "request.opened",
        "asker_id": 1,
        "at": NOON,
        "next_at": NOON,
    },
    "log_reader": {"name": "webhook", "next_leaf": 0},
    "request_decision": {
        "request_id": 1,
        "asker_id": 1,
        "outcome": "approved",
        "by": "root",
        "query_id": 1,
        "spec": "{}",
        "at": NOON,
    },
}
"""A valid row of every table, parents first; each refers to the first row of its parents."""


CLASSES: dict[str, type[SQLModel]] = {
    str(table.__tablename__): table
    for table in (
        tables.Tier,
        tables.User,
        tables.Clearance,
        tables.Token,
        tables.Dataset,
        tables.FormerDeclaration,
        tables.GroupMapping,
        tables.Invitation,
        tables.Wording,
        tables.ProviderAccount,
        tables.UsedOnce,
        tables.TierBudget,
        tables.Query,
        tables.Edition,
        tables.QueryLevel,
        tables.Release,
        tables.Leaf,
        tables.Grant,
        tables.Charge,
        tables.Idempotency,
        tables.WebSession,
        tables.Work,
        tables.Schedule,
        tables.Occurrence,
        tables.HistogramState,
        tables.StreamState,
        tables.StreamOutput,
        tables.FedElement,
        tables.SecretCheck,
        tables.SpentFloor,
        tables.Allowance,
        tables.AllowanceCharge,
        tables.TreeNode,
        tables.LogKey,
        tables.LogReader,
        tables.Checkpoint,
        tables.Cosignature,
        tables.Proposal,
        tables.Decision,
        tables.Request,
        tables.Asker,
        tables.Withdrawal,
        tables.Delivery,
        tables.RequestComment,
        tables.RequestDecision,
    )
}


Prototype = Callable[[str, str, Callable[[Homes, Path], Home]], Home]


def migrated(homes: Homes, folder: Path) -> Home:
    """Return a migrated database without keys."""
    folder.mkdir()
    if homes.cluster is None:
        migrate.upgrade(url_in(folder))
        return Home(folder, None, {})
    home = homes.bare(folder)
    settings = home.settings()
    migrate.upgrade(settings.migration_database_url, application_url=settings.database_url)
    return home


def furnished(homes: Homes, folder: Path) -> Home:
    """Return a migrated database with one row in every table, which nobody is connected to."""
    home = migrated(homes, folder)
    database = Database(owners(home))
    with database.write() as session:
        fill(session)
    database.close()
    return home


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder / 'penstock.db'}"


def owners(home: Home) -> str:
    """Return the database of ``migrated`` as its owner reaches it."""
    return home.settings().migration_database_url or url_in(home.folder)


def fill(session: Session) -> None:
    for name, sample in SAMPLES.items():
        if name == "edition":
            continue  # the migration added its only row
        session.add(CLASSES[name](**sample))
        session.flush()


class Undone(Exception):
    """Mark the end of a transaction that is not to be committed."""


@contextmanager
def undone(database: Database) -> Iterator[Session]:
    """Yield a write transaction of which nothing stays; what refuses it is raised.

    No constraint of ours is deferred, so that a commit would refuse nothing more.
    """
    with suppress(Undone), database.write() as session:
        yield session
        session.flush()
        raise Undone
