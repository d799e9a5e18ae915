"""Add settings that would be accepted to the refusal of a sparse histogram."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.accounting.calibration.levels import ADVICE as SHARE_ADVICE
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.row_numbers import required
from penstock.services.access.principals import Principal
from penstock.services.computations.histogram_remedies import Example, example, remedies
from penstock.services.context import Server
from penstock.services.datasets.population import spec_of
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.ledger.charges import accounts_of
from penstock.services.ledger.effective_levels import ladder
from penstock.services.noise.kinds.choice import requested
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.repository.datasets import dataset_by_name


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
    """Return example settings over a dataset, for a tenth of every tier's budget."""
    principal.require("admin")
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        accounts = accounts_of(session, dataset)
    return example(accounts, spec_of(dataset).max_units, EXAMPLE_SHARE, dataset.delta)


EXAMPLE_SHARE = 0.1


def _has_remedies(prepared_request: PreparedRequest) -> bool:
    kind, _ = requested(prepared_request.request, prepared_request.prepared)
    return kind.has_remedies


def _remedies(prepared_request: PreparedRequest) -> tuple[str, float]:
    dataset, limit = prepared_request.dataset, prepared_request.limit
    former: list[tuple[list[str], TierAccount]] = []
    with prepared_request.server.database.read() as session:
        accounts = accounts_of(session, dataset, limit)
        if limit is None:
            below: list[str] = []
            for tier in ladder(session):
                if tier.deleted_at is None:
                    below.append(tier.name)
                elif (gone := open_account(session, required(dataset.id), tier)) is not None:
                    former.append((list(below), gone))
    return prepared_request.run(remedies, accounts, former, dataset.delta, limit)
