"""Handle requests about datasets and their budgets."""

from typing import Annotated

from pydantic import Field

from penstock.api.operations import ADMIN, SIGNED_IN, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services import budgets, rewording
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import AllowanceGift, BudgetChange, Withdrawal
from penstock.services.datasets import allowances, corrections, datasets, dummy_rows
from penstock.services.datasets.corrections import WithdrawnView
from penstock.services.exposure import same_people
from penstock.services.jobs import registrations
from penstock.services.pagination import Page, Window
from penstock.services.schemas.datasets import (
    AllowanceSpec,
    AllowanceView,
    DatasetBudgetView,
    DatasetChange,
)
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import DatasetRequest, VersionRequest
from penstock.services.schemas.views import (
    DatasetView,
    DummyView,
)

operations = Operations()


@operations.get("/datasets", SIGNED_IN)
def list_datasets(call: Call, window: Window) -> Page[DatasetView]:
    """List the datasets that the caller may see."""
    return datasets.listing(call.server, call.principal, window)


@operations.post("/datasets", ADMIN, refusals=(409,))
def register_dataset(call: Call, request: DatasetRequest) -> DatasetView:
    """Register a dataset: where its records are, its privacy unit, and the budget of each tier."""
    return registrations.dataset(call.server, call.principal, request)


@operations.get("/datasets/{dataset}", SIGNED_IN)
def show_dataset(call: Call, dataset: str) -> DatasetView:
    """Show one dataset."""
    return datasets.show(call.server, call.principal, dataset)


@operations.patch("/datasets/{dataset}", ADMIN, refusals=(409,))
def change_dataset(call: Call, dataset: str, request: DatasetChange) -> DatasetView | ProposalView:
    """Change budgets, declaration or texts, or declare that another dataset has the same people.

    A budget below what is spent is refused.  Under the two-person rule a budget that is larger than
    every budget that the dataset has becomes a proposal.  Until something is charged, the whole
    declaration may be corrected; afterwards only columns and `max_units`, and what was spent stays
    spent.  Registered queries keep the declaration that they were registered under.  With
    `same_people_as` losses in another dataset are added to those in this one, permanently. Titles
    and other texts are for readers alone: they touch no budget, and belong to all versions.
    """
    if request.same_people_as is not None:
        return same_people.declare(call.server, call.principal, dataset, request.same_people_as)
    if request.texts:
        return rewording.of_dataset(call.server, call.principal, dataset, request.texts)
    if request.budgets is None:
        return corrections.correct(call.server, call.principal, dataset, request.correction)
    change = BudgetChange(dataset=dataset, budgets=request.budgets)
    return proposals.do_or_propose(call.server, call.principal, change)


@operations.delete("/datasets/{dataset}", ADMIN, refusals=(409,))
def withdraw_dataset(call: Call, dataset: str) -> WithdrawnView | ProposalView:
    """Withdraw the newest version of a dataset, if nothing was ever charged to it.

    Its file and, once no version is left, its name may be registered again.  The version keeps
    its number.
    """
    return proposals.do_or_propose(call.server, call.principal, Withdrawal(dataset=dataset))


@operations.post("/datasets/{dataset}/versions", ADMIN, refusals=(409,))
def add_version(call: Call, dataset: str, request: VersionRequest) -> DatasetView:
    """Register new data of a dataset, with separate budgets.

    Losses in several versions add up, unless no person in the new version is in an earlier one,
    which `disjoint_units` states. From then on queries that name the dataset use the new version;
    earlier queries keep theirs.
    """
    return registrations.version(call.server, call.principal, dataset, request)


@operations.get("/datasets/{dataset}/budget", SIGNED_IN)
def show_budget(call: Call, dataset: str) -> DatasetBudgetView:
    """Show what was granted, spent and is left, and which queries spent it.

    Admins and auditors see every tier, analysts their own.
    """
    return budgets.show(call.server, call.principal, dataset)


@operations.get("/datasets/{dataset}/allowances", SIGNED_IN)
def list_allowances(call: Call, dataset: str) -> Page[AllowanceView]:
    """List what analysts may register by themselves in a dataset, tier by tier.

    Admins and auditors see every allowance, analysts the one that they may use.
    """
    return Page(allowances.listing(call.server, call.principal, dataset), None)


@operations.put("/datasets/{dataset}/allowances/{tier}", ADMIN, refusals=(409,))
def give_allowance(
    call: Call, dataset: str, tier: str, request: AllowanceSpec
) -> AllowanceView | ProposalView:
    """Give analysts of a tier an allowance, in which they register queries by themselves.

    Their queries have a level at their tier, are visible there and above and never below, and are
    charged to every tier that can see them. What is counted against the allowance is their loss at
    the level of this tier, together. Another allowance replaces it: below what is spent, it leaves
    nothing.
    """
    act = AllowanceGift(dataset=dataset, tier=tier, epsilon=request.epsilon, users=request.users)
    return proposals.do_or_propose(call.server, call.principal, act)


@operations.delete("/datasets/{dataset}/allowances/{tier}", ADMIN)
def take_allowance_back(call: Call, dataset: str, tier: str) -> AllowanceView:
    """Take an allowance back; what was registered under it stays, with its charges."""
    return allowances.take_back(call.server, call.principal, dataset, tier)


@operations.get("/datasets/{dataset}/dummy", SIGNED_IN)
def show_dummy(
    call: Call,
    dataset: str,
    rows: Annotated[
        int,
        Field(ge=1, le=dummy_rows.MOST_ROWS),
        Parameter("The number of rows to make; 100 by default."),
    ] = dummy_rows.ROWS,
    seed: Annotated[
        int,
        Field(ge=0, le=2**63 - 1),
        Parameter("The same seed gives the same rows; 0 by default."),
    ] = 0,
) -> DummyView:
    """Make up rows that fit the declared schema, for trying out code.

    Neither the data nor any state of the server is touched.
    """
    return dummy_rows.rows(call.server, call.principal, dataset, rows=rows, seed=seed)
