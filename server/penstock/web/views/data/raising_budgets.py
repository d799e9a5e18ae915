"""Raise and lower the budgets of a dataset."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services import budgets
from penstock.services.approvals.actions import BudgetChange
from penstock.services.people import tiers
from penstock.services.previews import budget_preview
from penstock.services.previews.budget_preview import MovedBudgetsView
from penstock.services.schemas.datasets import DatasetBudgetView, DatasetChange
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters import budget_charts

pages = Pages()


@pages.get("/datasets/<dataset>/budgets", ADMIN)
def dataset_budgets(visit: Visit, dataset: str) -> Response:
    """Show what each tier was granted and spent, with the form that changes budgets."""
    return _budgets(visit, dataset, Form())


@pages.post("/datasets/<dataset>/budgets", ADMIN)
def change_budgets(visit: Visit, dataset: str) -> Response:
    """Change budgets, or propose it; or preview the change."""
    given = request.form

    def look() -> Response:
        view = budgets.show(visit.server, visit.principal, dataset)
        change = checked(DatasetChange, {"budgets": _changed_budgets(visit, view, given)})
        preview = budget_preview.preview(visit.server, visit.principal, view.dataset, change)
        return _budgets(visit, dataset, Form(given), preview)

    def act() -> Response:
        view = budgets.show(visit.server, visit.principal, dataset)
        spec = {"budgets": _changed_budgets(visit, view, given)}
        change = checked(DatasetChange, spec)
        act = BudgetChange(dataset=view.dataset, budgets=change.budgets)
        return do_or_propose(
            visit, act, lambda done: visit.go("dataset_budgets", dataset=done.name, changed="1")
        )

    return tried(
        look if "look" in given else act,
        lambda problem: _budgets(visit, dataset, form_input.refused(given, problem)),
    )


def _changed_budgets(
    visit: Visit, dataset_budget: DatasetBudgetView, given: Mapping[str, str]
) -> dict[str, dict[str, object]]:
    """Return the budgets that differ from the granted ones; fields left empty stay."""
    granted = {tier.tier: tier.granted.epsilon for tier in dataset_budget.tiers}
    changed: dict[str, dict[str, object]] = {}
    for tier in tiers.listing(visit.server):
        epsilon = form_input.number(given.get(f"epsilon {tier.name}", ""))
        if epsilon is not None and epsilon != granted.get(tier.name):
            changed[tier.name] = {"epsilon": epsilon}
    if not changed:
        raise InvalidInput("No budget was changed. Enter another number for at least one tier.")
    return changed


def _budgets(
    visit: Visit, name: str, form: Form, moved_budgets: MovedBudgetsView | None = None
) -> Response:
    view = budgets.show(visit.server, visit.principal, name)
    return visit.page(
        "data/dataset_budgets.html",
        form.status,
        shown=budget_charts.shown(view, 0),
        granted={tier.tier: tier for tier in view.tiers},
        tiers=tiers.listing(visit.server),
        form=form,
        preview=moved_budgets,
        changed="changed" in request.args,
    )
