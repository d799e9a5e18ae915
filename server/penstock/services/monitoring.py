"""Measure what only an operator should see, for ``penstock metrics``.

``/metrics`` has none of this: its readers could compare two moments of their choice, before and
after a request of their own.  Here the operator chooses the moment, and what is shown: budgets and
the size of the log, which depend on what analysts request, only by options, and in coarse steps.
Moments are seconds since 1970, as Prometheus expects: it computes the ages.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from sqlmodel import Session, col, func, or_, select

from penstock.accounting.charging.ledger import limit_of
from penstock.encryption.secrets import NAMES
from penstock.errors import Unavailable
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf, LogKey
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.accounts import open_accounts
from penstock.services.operations.backup_check import SUFFIX

PROVIDER: Final = "provider"
KEYS: Final = (PROVIDER, *NAMES)
"""What has a key that an operator rotates: the key provider, and each of the secrets."""

LAG_STEP: Final = 60
"""The step of the witness's lag, in seconds: below it, a change may be under way."""

SIZE_STEP: Final = 1000
"""The step of the log's size, in leaves."""

SHARE_STEPS: Final = 20
"""The number of steps in which the spent share of a budget is shown, rounded up: 5% each."""


@dataclass(frozen=True)
class Gauge:
    """Hold a metric: its name, its meaning, and its values by labels."""

    name: str
    meaning: str
    values: Sequence[tuple[Mapping[str, str], float]]


def measure(
    server: Server,
    principal: Principal,
    *,
    backups: Path | None = None,
    budgets: bool = False,
    log_size: bool = False,
) -> list[Gauge]:
    """Return the gauges; those of ``backups`` (a folder), ``budgets``, ``log_size`` if requested.

    Raises ``Forbidden``, ``Unavailable`` if the folder cannot be read, ``LogUnavailable`` if the
    witness does not answer.
    """
    principal.require("admin")
    now = server.clock()
    # Before the database: leaves that are written in between would seem not to be witnessed.
    witnessed = server.sequencer.look().size
    with server.database.read() as session:
        gauges = [
            Gauge(
                "penstock_measured_timestamp_seconds",
                "When this was measured.",
                [({}, now.timestamp())],
            ),
            Gauge(
                "penstock_witness_behind_seconds",
                "How long the witness has lacked a leaf of the log, in whole minutes.",
                [({}, _lag(session, witnessed, now))],
            ),
            Gauge(
                "penstock_key_timestamp_seconds",
                "When the keys of the provider and each secret were last rotated, or made.",
                [({"key": key}, at.timestamp()) for key, at in rotated(session, now).items()],
            ),
        ]
        if log_size:
            gauges.append(
                Gauge(
                    "penstock_log_leaves",
                    f"Leaves of the log, rounded down to {SIZE_STEP}.",
                    [({}, witnessed // SIZE_STEP * SIZE_STEP)],
                )
            )
        if budgets:
            gauges.append(
                Gauge(
                    "penstock_budget_spent_ratio",
                    "The spent share of a tier's budget in a dataset's newest version, rounded up.",
                    _spent(session),
                )
            )
    if backups is not None:
        gauges.append(
            Gauge(
                "penstock_backup_timestamp_seconds",
                "When the newest backup in the folder was completed; 0 without one.",
                [({}, _newest_backup(backups))],
            )
        )
    return gauges


def _lag(session: Session, witnessed: int, now: datetime) -> float:
    """Return the age of the oldest leaf that the witness has not seen, in whole minutes."""
    unseen = or_(col(Leaf.index).is_(None), col(Leaf.index) >= witnessed)
    oldest = session.exec(select(func.min(col(Leaf.at))).where(unseen)).one()
    if oldest is None:
        return 0.0
    return max(0.0, (now - oldest).total_seconds()) // LAG_STEP * LAG_STEP


def rotated(session: Session, now: datetime) -> dict[str, datetime]:
    """Return when each of ``KEYS`` was rotated last; without a rotation, when it was made.

    A home's first keys are as old as its first key of the log.
    """
    made: datetime | None = session.exec(select(func.min(col(LogKey.created_at)))).one()
    moments = dict.fromkeys(KEYS, made or now)
    rows = select(Leaf.at, Leaf.bytes).where(col(Leaf.kind) == "key").order_by(col(Leaf.id))
    for at, content in session.exec(rows).all():
        fields = json.loads(content)
        if "rotated" in fields:
            moments[PROVIDER] = at
        elif "number" in fields and fields.get("secret") in moments:
            moments[fields["secret"]] = at
    return moments


def _spent(session: Session) -> list[tuple[Mapping[str, str], float]]:
    """Return each tier's spent share of its budget in the newest version of each dataset."""
    rows = select(Dataset).where(col(Dataset.withdrawn_at).is_(None)).order_by(col(Dataset.id))
    newest = {dataset.folded: dataset for dataset in session.exec(rows).all()}
    shares: list[tuple[Mapping[str, str], float]] = []
    for dataset in newest.values():
        if not dataset.wrapped_kek:
            continue  # shredded: nothing more can be spent
        for tier, account in open_accounts(session, required(dataset.id)):
            if account is not None:
                share = account.spent.loss / limit_of(account.account).loss
                labels = {"dataset": dataset.name, "tier": tier.name}
                shares.append((labels, math.ceil(share * SHARE_STEPS) / SHARE_STEPS))
    return shares


def _newest_backup(folder: Path) -> float:
    """Return when the newest backup in ``folder`` was completed.  Raises ``Unavailable``."""
    try:
        # A manifest is written last, when the copy is whole.
        manifests = [place for place in folder.iterdir() if place.name.endswith(SUFFIX)]
        moments = [
            place.stat().st_mtime
            for place in manifests
            if place.with_name(place.name.removesuffix(SUFFIX)).is_file()
        ]
    except OSError as error:
        raise Unavailable(f"{folder} cannot be read ({error.strerror}).") from error
    return max(moments, default=0.0)
