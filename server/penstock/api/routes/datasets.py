"""Datasets and their budgets."""

from penstock.api.call import Call
from penstock.api.operations import ADMIN, SIGNED_IN, Operations
from penstock.services import budget, datasets
from penstock.services.paging import Window
from penstock.services.specs import DatasetRequest
from penstock.services.views import DatasetBudgetView, DatasetView, Page

operations = Operations()


@operations.get("/datasets", SIGNED_IN)
def list_datasets(call: Call, window: Window) -> Page[DatasetView]:
    """List the datasets that the caller may see."""
    return datasets.listing(call.server, call.principal, window)


@operations.post("/datasets", ADMIN, refusals=(409,))
def register_dataset(call: Call, body: DatasetRequest) -> DatasetView:
    """Register a dataset: where its records are, whose they are, and what each tier may spend."""
    return datasets.register(call.server, call.principal, body)


@operations.get("/datasets/{dataset}", SIGNED_IN)
def show_dataset(call: Call, dataset: str) -> DatasetView:
    """Show one dataset."""
    return datasets.show(call.server, call.principal, dataset)


@operations.get("/datasets/{dataset}/budget", SIGNED_IN)
def show_budget(call: Call, dataset: str) -> DatasetBudgetView:
    """Show what was granted, spent and is left, and which queries spent it.

    Admins and auditors see every tier, analysts their own.
    """
    return budget.show(call.server, call.principal, dataset)
