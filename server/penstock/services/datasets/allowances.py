"""Give a tier, or analysts of it, an allowance of a dataset's budget, and take it back.

It permits nothing that the budgets do not: every query under it is charged to every tier that sees
it, as any other.  Giving it anew, smaller or larger, or taking it back, changes nothing of what was
registered; below what is spent nothing is left.  It belongs to a version of the dataset, as budgets
do, and to a tier, with which it ends.
"""

import json
from collections.abc import Sequence

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import SQUARES, Account
from penstock.accounting.charging.ledger import NOTHING, Entry, limit_of
from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Allowance, Dataset
from penstock.persistence.tables.people import Tier, User
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.allowances.logged_allowances import record_allowance
from penstock.services.allowances.open_allowances import (
    OpenAllowance,
    higher_before,
    newest,
    opened,
    own,
    spending,
    spent_at,
)
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_dataset
from penstock.services.datasets.population import spec_of
from penstock.services.ledger.accounts import opened_account
from penstock.services.ledger.tier_budgets import newest_budget
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import (
    clearance_of,
    ordered_tiers,
    tier_by_name,
    user_by_name,
)
from penstock.services.schemas.datasets import (
    AllowanceSpec,
    AllowanceSpendingView,
    AllowanceView,
)


def give(
    server: Server, principal: Principal, dataset_name: str, tier_name: str, spec: AllowanceSpec
) -> AllowanceView:
    """Give a tier an allowance in the newest version of a dataset, in place of any before.

    Raises ``NotFound`` for the dataset or the tier, ``InvalidInput`` for users that do not exist
    and for an epsilon that leaves nothing to spend, ``Conflict`` for a tier without a budget, and
    ``ApprovalNeeded`` for an allowance that permits more, or to more people, than the one before.
    """
    principal.require("admin")
    with server.database.write() as session:
        dataset, tier, account, users = settled(session, dataset_name, tier_name, spec)
        if permits_more(opened(session, dataset, tier), account, users):
            require_second(server)
        return give_within(session, server, principal, dataset_name, tier_name, spec)


def give_within(
    session: Session,
    server: Server,
    principal: Principal,
    dataset_name: str,
    tier_name: str,
    spec: AllowanceSpec,
) -> AllowanceView:
    """Give an allowance as a part of a transaction; see ``give``."""
    dataset, tier, account, users = settled(session, dataset_name, tier_name, spec)
    last = newest(session, required(dataset.id), required(tier.id))
    same = (spec.epsilon, dataset.delta, account.order, _stored(users))
    if last is None or (last.epsilon, last.delta, last.order, last.users) != same:
        _append(session, server, principal, dataset, tier, account, users)
    return _view(session, _required(opened(session, dataset, tier)))


def permits_more(
    before: OpenAllowance | None, account: Account, users: Sequence[int] | None
) -> bool:
    """Return True if an allowance has a larger epsilon than the one before, or further users."""
    if before is None or account.epsilon > before.account.epsilon:
        return True
    if before.users is None:
        return False
    return users is None or not set(users) <= set(before.users)


def settled(
    session: Session, dataset_name: str, tier_name: str, spec: AllowanceSpec
) -> tuple[Dataset, Tier, Account, list[int] | None]:
    """Return what giving an allowance would set: its place, its account, and who may use it.

    Raises as ``give``.
    """
    dataset, tier = dataset_by_name(session, dataset_name), tier_by_name(session, tier_name)
    if newest_budget(session, dataset, tier) is None:
        raise Conflict(
            f"Tier {tier.name!r} has no budget in dataset {dataset.name!r}, so nothing could be"
            " registered under an allowance; give it a budget first."
        )
    users = None if spec.users is None else _numbers(session, spec.users)
    account = opened_account(spec.epsilon, dataset.delta, spec_of(dataset).accountant)
    return dataset, tier, account, users


def take_back(
    server: Server, principal: Principal, dataset_name: str, tier_name: str
) -> AllowanceView:
    """Take back a tier's allowance; queries registered under it stay, with their charges.

    Raises ``NotFound``, also if there is none.
    """
    principal.require("admin")
    with server.database.write() as session:
        dataset, tier = dataset_by_name(session, dataset_name), tier_by_name(session, tier_name)
        allowance = opened(session, dataset, tier)
        if allowance is None:
            raise NotFound(f"Tier {tier.name!r} has no allowance in dataset {dataset.name!r}.")
        taken = _view(session, allowance)
        _append(session, server, principal, dataset, tier, None, None)
        return taken


def listing(server: Server, principal: Principal, dataset_name: str) -> list[AllowanceView]:
    """List the allowances of a dataset's newest version, the least trusted tier first.

    Analysts see the one that they may use.  Raises ``NotFound``.
    """
    with server.database.read() as session:
        if principal.roles & {"admin", "auditor"}:
            dataset = dataset_by_name(session, dataset_name)
            return [_view(session, allowance) for allowance in of_dataset(session, dataset)]
        dataset = visible_dataset(session, principal, dataset_name)
        newest_version = dataset_by_name(session, dataset_name)
        allowance = own(session, principal, dataset) if dataset.id == newest_version.id else None
        return [] if allowance is None else [_view(session, allowance, principal)]


def usable(server: Server, principal: Principal) -> dict[str, AllowanceView]:
    """Return the allowances that the caller may register queries under, by dataset."""
    with server.database.read() as session:
        tier = None
        if principal.user_id is not None and "analyst" in principal.roles:
            tier = clearance_of(session, principal.user_id)
        if tier is None:
            return {}
        names = session.exec(
            select(Dataset.name)
            .join(Allowance, col(Allowance.dataset_id) == col(Dataset.id))
            .where(col(Allowance.tier_id) == tier.id)
            .order_by(col(Dataset.name))
            .distinct()
        ).all()
        each = ((name, own(session, principal, dataset_by_name(session, name))) for name in names)
        return {name: _view(session, allowance, principal) for name, allowance in each if allowance}


def of_dataset(session: Session, dataset: Dataset) -> list[OpenAllowance]:
    """Return the allowances of a version of a dataset, the least trusted tier first."""
    each = (opened(session, dataset, tier) for tier in ordered_tiers(session))
    return [allowance for allowance in each if allowance is not None]


def seen_by(
    session: Session, principal: Principal, dataset: Dataset, tier: Tier
) -> AllowanceView | None:
    """Return a tier's allowance as the caller sees it: analysts, if they may use it."""
    if principal.roles & {"admin", "auditor"}:
        allowance = opened(session, dataset, tier)
        return None if allowance is None else _view(session, allowance)
    usable = own(session, principal, dataset)
    if usable is None or usable.tier.id != tier.id:
        return None
    return _view(session, usable, principal)


def open_again(session: Session, server: Server, principal: Principal, dataset: Dataset) -> None:
    """Open the allowances of a dataset anew after its delta was corrected; nothing is spent."""
    for allowance in of_dataset(session, dataset):
        accountant = spec_of(dataset).accountant
        account = opened_account(allowance.account.epsilon, dataset.delta, accountant)
        _append(session, server, principal, dataset, allowance.tier, account, allowance.users)


def take_all_back(session: Session, server: Server, principal: Principal) -> None:
    """Take back every allowance, after a restore: what was spent of them since is not known."""
    for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all():
        for allowance in of_dataset(session, dataset):
            _append(session, server, principal, dataset, allowance.tier, None, None)


def _append(
    session: Session,
    server: Server,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    account: Account | None,
    users: Sequence[int] | None,
) -> None:
    """Append the next version of an allowance, and its leaf; no ``account`` takes it back."""
    key, tier_id = required(dataset.id), required(tier.id)
    last = newest(session, key, tier_id)
    limit = NOTHING if account is None else limit_of(account)
    spent = Entry(0, 0) if account is None else spent_at(session, key, tier_id, account)
    row = Allowance(
        dataset_id=key,
        tier_id=tier_id,
        version=1 if last is None else last.version + 1,
        epsilon=None if account is None else account.epsilon,
        delta=dataset.delta,
        order=account.order if account else last.order if last else SQUARES,
        limit_loss=limit.loss,
        limit_failure=limit.failure,
        spent_loss=spent.loss,
        spent_failure=spent.failure,
        users=_stored(users),
        at=server.clock(),
        by=principal.name,
    )
    session.add(row)
    session.flush()
    record_allowance(session, principal, dataset, tier, row, named(session, users))


def _stored(users: Sequence[int] | None) -> str | None:
    return None if users is None else json.dumps(list(users))


def _numbers(session: Session, names: Sequence[str]) -> list[int]:
    """Return the numbers of users, in order.  Raises ``InvalidInput`` for one who does not exist.

    Somebody who does not hold the tier may be named: they can use it once they do, which ``notes``
    says.
    """
    numbers = set()
    for place, name in enumerate(names):
        try:
            numbers.add(required(user_by_name(session, name).id))
        except NotFound as problem:
            raise InvalidInput(problem.detail, pointer=f"/users/{place}") from problem
    return sorted(numbers)


def notes(
    session: Session, dataset: Dataset, tier: Tier, epsilon: float, users: Sequence[int] | None
) -> list[str]:
    """Return what an allowance permits in words, and cannot be used for as things are now."""
    lines = []
    budget = newest_budget(session, dataset, tier)
    if budget is not None and epsilon > budget.epsilon:
        lines.append(
            f"The budget of tier {tier.name} is {budget.epsilon:g}, so an allowance of {epsilon:g}"
            " cannot be spent in whole."
        )
    rows = session.exec(select(User).where(col(User.id).in_(users or ())).order_by(col(User.id)))
    for user in rows.all():
        present = clearance_of(session, required(user.id))
        if present is None or present.id != tier.id:
            holds = "no tier" if present is None else present.name
            lines.append(
                f"{user.name} holds {holds}: an allowance of {tier.name} is for holders of it."
            )
            continue
        higher = higher_before(session, required(user.id), tier)
        if higher is not None:
            lines.append(
                f"{user.name} held {higher.name} before, and so can only request queries: which"
                " question somebody asks may tell what they had read."
            )
    return lines


def named(session: Session, users: Sequence[int] | None) -> list[str] | None:
    """Return the names of users, in order of their numbers; ``None`` stays."""
    if users is None:
        return None
    rows = session.exec(select(User).where(col(User.id).in_(users)).order_by(col(User.id))).all()
    return [user.name for user in rows]


def _required(allowance: OpenAllowance | None) -> OpenAllowance:
    if allowance is None:
        raise RuntimeError("an allowance that was just given is open")
    return allowance


def _view(
    session: Session, allowance: OpenAllowance, reader: Principal = OPERATOR
) -> AllowanceView:
    """Return an allowance for a reader; analysts are not shown which others may use it."""
    row = allowance.row
    dataset = session.get_one(Dataset, row.dataset_id)
    sees_all = bool(reader.roles & {"admin", "auditor"})
    users = named(session, allowance.users)
    return AllowanceView(
        dataset=dataset.name,
        dataset_version=dataset.version,
        tier=allowance.tier.name,
        epsilon=allowance.account.epsilon,
        delta=allowance.account.delta,
        users=users if sees_all or users is None else [reader.name],
        spent_share=allowance.share(allowance.spent),
        remaining_share=allowance.left,
        queries=[
            AllowanceSpendingView(name, by if sees_all or by == reader.name else None, share)
            for name, by, share in spending(session, allowance)
        ],
        given_at=row.at,
        given_by=row.by if sees_all else None,
        notes=notes(session, dataset, allowance.tier, allowance.account.epsilon, allowance.users)
        if sees_all
        else [],
    )
