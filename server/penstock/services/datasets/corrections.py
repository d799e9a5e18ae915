"""Correct a dataset's declaration, and withdraw one before anything is charged."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from penstock.connectors.planning import prepare
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import UnitColumn
from penstock.errors import Conflict, Forbidden, InvalidInput
from penstock.persistence.locks import lock_dataset
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, FormerDeclaration
from penstock.privacy.neighboring import NeighboringRelation
from penstock.services.access.principals import Principal, require_still
from penstock.services.access.two_person_rule import require_second
from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets
from penstock.services.datasets.declarations import charged, number_of, require_as_declared
from penstock.services.datasets.logged_datasets import record_correction, record_withdrawal
from penstock.services.datasets.population import others_of, require_comparable, spec_of
from penstock.services.ledger.accounts import opened_account
from penstock.services.ledger.effective_levels import ladder
from penstock.services.ledger.tier_budgets import newest_budget, set_budget
from penstock.services.ledger.version_chains import versions_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.views import DatasetView

PROMISED = ("privacy_unit", "neighboring", "delta")
"""The fields in terms of which charges are stated."""


@dataclass(frozen=True)
class WithdrawnView:
    """Hold the withdrawn version of a dataset, and the newest one now, if any."""

    dataset: str
    version: int
    newest: int | None


def correct(
    server: Server, principal: Principal, name: str, request: CorrectionRequest
) -> DatasetView:
    """Correct the declaration of a dataset's newest version; its file and its budgets stay.

    Charges stay, in the same accounts.  Registered queries keep the declaration that they were
    registered under.  Raises ``NotFound``, ``InvalidInput`` for a declaration that is not valid,
    ``Conflict`` for the fields in terms of which charges are stated, once there are any, and
    ``Forbidden`` for the same under the two-person rule.
    """
    principal.require("admin")
    with server.database.read() as session:
        seen = dataset_by_name(session, name)
    before = spec_of(seen)
    after = corrected(before, request)
    prepare.check_source(after, server.sources)
    changed = list(_changes(before, after))
    if not changed:
        raise InvalidInput(
            f"Dataset {seen.name!r} is declared like this already; nothing was changed."
        )
    with server.database.write() as session:
        require_still(session, principal, "admin")
        dataset = dataset_by_name(session, name)
        require_as_declared(lock_dataset(session, required(dataset.id)), seen)
        if dataset.id != seen.id:
            raise Conflict(f"Dataset {seen.name!r} has a new version since; repeat the request.")
        _require_same_promise(session, server, dataset, before, after)
        _store(session, server, principal, dataset, after, changed)
        return datasets.view(session, dataset, None)


def has_charges(server: Server, principal: Principal, name: str) -> bool:
    """Return True if charges fix a dataset's declaration.  Raises ``NotFound``."""
    principal.require("admin")
    with server.database.read() as session:
        versions = versions_of(session, dataset_by_name(session, name))
        return any(charged(session, version) for version in versions)


def withdraw(server: Server, principal: Principal, name: str) -> WithdrawnView:
    """Withdraw the newest version of a dataset, in which nothing was ever charged.

    Its file may be registered again, and so may its name once no version is left: the number of the
    version is not used again, so that names in the log stay unambiguous.  Raises ``NotFound``,
    ``Conflict`` once anything was charged, and ``ApprovalNeeded``.
    """
    principal.require("admin")
    with server.database.write() as session:
        done = settle_withdrawal(session, server, principal, name)
        require_second(server)
        return done


def settle_withdrawal(
    session: Session, server: Server, principal: Principal, name: str
) -> WithdrawnView:
    """Withdraw a version as ``withdraw`` does, as a part of a transaction."""
    dataset = dataset_by_name(session, name)
    lock_dataset(session, required(dataset.id))
    if charged(session, dataset):
        raise Conflict(
            f"Queries were charged in dataset {dataset.name!r}, version {dataset.version}, or"
            f" streams fed from it: what was spent stays spent, so it cannot be withdrawn. Its"
            f" columns may still be corrected."
        )
    now = server.clock()
    dataset.withdrawn_at = now
    session.add(dataset)
    session.flush()
    record_withdrawal(session, principal, dataset, now)
    left = versions_of(session, dataset)
    return WithdrawnView(dataset.name, dataset.version, left[-1].version if left else None)


def corrected(before: DatasetRequest, request: CorrectionRequest) -> DatasetRequest:
    """Return a declaration with its changes; columns that are not listed stay."""
    fields = request.model_fields_set - {"columns"}
    changes: dict[str, Any] = {name: getattr(request, name) for name in fields}
    if request.columns is not None:
        unknown = [
            name
            for name, column in request.columns.items()
            if column is None and name not in before.columns
        ]
        if unknown:
            raise InvalidInput(
                "This column is not declared, so it cannot be left out.",
                pointer=pointer("columns", unknown[0]),
            )
        kept = {**before.columns, **request.columns}
        changes["columns"] = {
            name: changed for name, changed in kept.items() if changed is not None
        }
    return before.model_copy(update=changes)


def _changes(before: DatasetRequest, after: DatasetRequest) -> Iterator[str]:
    """Return the pointers of the fields that change."""
    for name in (*PROMISED, "max_units"):
        if getattr(before, name) != getattr(after, name):
            yield pointer(name)
    for name in sorted(before.columns.keys() | after.columns.keys()):
        if before.columns.get(name) != after.columns.get(name):
            yield pointer("columns", name)


def _promises(before: DatasetRequest, after: DatasetRequest) -> Iterator[str]:
    """Return the pointers of changes to the fields in terms of which charges are stated."""
    for name in PROMISED:
        if getattr(before, name) != getattr(after, name):
            yield pointer(name)
    unit = before.privacy_unit
    # Read as another type, the same rows may belong to other people.
    if (
        isinstance(unit, UnitColumn)
        and unit == after.privacy_unit
        and before.columns[unit.column].type != after.columns[unit.column].type
    ):
        yield pointer("columns", unit.column, "type")


def _require_same_promise(
    session: Session,
    server: Server,
    dataset: Dataset,
    before: DatasetRequest,
    after: DatasetRequest,
) -> None:
    others = list(_promises(before, after))
    if not others:
        return
    if any(charged(session, version) for version in versions_of(session, dataset)):
        raise Conflict(
            f"Queries were charged in dataset {dataset.name!r}, and their cost is stated for its"
            f" privacy unit, its neighboring relation and its delta: these cannot change."
            f" Correct only"
            f" columns and max_units.",
            fields=others,
        )
    if server.settings.two_person_rule:
        raise Forbidden(
            "Under the two-person rule nobody alone can change the privacy unit, the neighboring"
            " relation or delta. Withdraw the dataset, which another admin approves, and"
            " register it again."
        )
    require_comparable(after, others_of(session, dataset))
    if dataset.disjoint_units and after.neighboring is NeighboringRelation.REPLACE:
        raise InvalidInput(
            "It was stated that nobody in this version is in any earlier one, which is possible"
            " only under add_remove. Withdraw it, and register it again.",
            pointer="/neighboring",
        )


def _store(
    session: Session,
    server: Server,
    principal: Principal,
    dataset: Dataset,
    after: DatasetRequest,
    changed: list[str],
) -> None:
    now = server.clock()
    session.add(
        FormerDeclaration(
            dataset_id=required(dataset.id),
            number=number_of(dataset),
            spec=dataset.spec,
            at=now,
            by=principal.name,
        )
    )
    other_delta = dataset.delta != after.delta
    dataset.spec = datasets.spec_text(after)
    dataset.neighboring = str(after.neighboring)
    dataset.delta = after.delta
    dataset.declaration = number_of(dataset) + 1
    session.add(dataset)
    session.flush()
    record_correction(session, principal, dataset, changed, now)
    if other_delta:
        # Nothing is spent, so the accounts start over, with an order for this delta.
        for tier in ladder(session):
            budget = newest_budget(session, dataset, tier)
            if budget is not None:
                account = opened_account(budget.epsilon, dataset.delta, after.accountant)
                set_budget(session, principal, dataset, tier, account, now)
        allowances.open_again(session, server, principal, dataset)
