"""Solve for the false keys that a request leaves open, and add what would fit to a refusal.

A preview and a registration solve in the same way, from the same accounts, so that they have the
same number; it is this number that is charged and stored.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlmodel import Session, col, select

from penstock.accounting.calibration.levels import ADVICE as SHARE_ADVICE
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.computations.histogram_remedies import (
    Accounts,
    Example,
    Former,
    example,
    fitted,
    remedies,
)
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.datasets.population import spec_of
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.ledger.charges import accounts_of
from penstock.services.ledger.effective_levels import ladder
from penstock.services.noise.kinds.choice import requested
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.schemas.histograms import FIT
from penstock.services.schemas.queries import HistogramRequest
from penstock.spec_fields import folded


def solved(prepared_request: PreparedRequest, accounts: Accounts) -> PreparedRequest:
    """Return a request with the number of false keys that it leaves to be solved for.

    Others are returned unchanged.  A registration that was interrupted is finished with the number
    that it was charged with.  ``accounts`` are those that the query will be charged to.
    """
    request = prepared_request.request
    if not isinstance(request, HistogramRequest) or request.false_keys != FIT:
        return prepared_request
    with prepared_request.server.database.read() as session:
        charged = _charged(session, prepared_request.dataset, request)
        former = _former(session, prepared_request.dataset, prepared_request.limit)
    if charged is None:
        charged = prepared_request.run(
            fitted, accounts, former, prepared_request.dataset.delta, prepared_request.limit
        )
    return replace(prepared_request, request=request.model_copy(update={"false_keys": charged}))


@contextmanager
def advised(prepared_request: PreparedRequest) -> Iterator[None]:
    """Add what would fit to the refusal of a sparse histogram for lack of budget.

    Accounts are read again, up to the caller's limit.  Other errors are raised unchanged.
    """
    try:
        yield
    except BudgetExhausted as problem:
        advise(problem, prepared_request)
        raise
    except InvalidInput as problem:
        short = [place for place, _ in problem.errors] == ["/share"]
        if not (short and _has_remedies(prepared_request)):
            raise
        advice, _ = _remedies(prepared_request)
        detail = problem.detail.removesuffix(SHARE_ADVICE)
        raise InvalidInput(f"{detail} {advice}", pointer="/share") from problem


def advise(problem: BudgetExhausted, prepared_request: PreparedRequest) -> None:
    """Add the same to an error that was not raised yet; errors of other queries stay unchanged."""
    if _has_remedies(prepared_request):
        advice, share = _remedies(prepared_request)
        problem.detail = problem.detail.replace(problem.advice, advice, 1)
        problem.args = (problem.detail,)
        problem.data = {**problem.data, "largest_share": share}


def example_of(server: Server, principal: Principal, name: str) -> Example | None:
    """Return example settings over a dataset, for a tenth of every budget in the caller's sight.

    Raises ``NotFound`` for a dataset that they may not see.
    """
    principal.require("analyst", "admin")
    with server.database.read() as session:
        dataset = visible_dataset(session, principal, name)
        accounts = accounts_of(session, dataset, visible_below(session, principal))
    return example(accounts, spec_of(dataset).max_units, EXAMPLE_SHARE, dataset.delta)


EXAMPLE_SHARE = 0.1


def _has_remedies(prepared_request: PreparedRequest) -> bool:
    kind, _ = requested(prepared_request.request, prepared_request.prepared)
    return kind.has_remedies


def _remedies(prepared_request: PreparedRequest) -> tuple[str, float]:
    dataset, limit = prepared_request.dataset, prepared_request.limit
    with prepared_request.server.database.read() as session:
        accounts = accounts_of(session, dataset, limit)
        former = _former(session, dataset, limit)
    return prepared_request.run(remedies, accounts, former, dataset.delta, limit)


def _former(session: Session, dataset: Dataset, limit: Tier | None) -> Former:
    """Return the accounts of deleted tiers, for callers who see all."""
    former: list[tuple[list[str], TierAccount]] = []
    if limit is not None or dataset.id is None:
        return former
    below: list[str] = []
    for tier in ladder(session):
        if tier.deleted_at is None:
            below.append(tier.name)
        elif (gone := open_account(session, dataset.id, tier)) is not None:
            former.append((list(below), gone))
    return former


def _charged(session: Session, dataset: Dataset, request: HistogramRequest) -> float | None:
    """Return the false keys that an interrupted registration of ``request`` was charged with."""
    named = select(Query).where(
        col(Query.folded) == folded(request.name),
        col(Query.status) == "pending",
        col(Query.dataset_id) == dataset.id,
    )
    left = session.exec(named).first()
    if left is None:
        return None
    stored = json.loads(left.spec)
    number = stored.get("false_keys")
    return number if isinstance(number, float) else None
