"""Show the allowances of a dataset; give, change and take them back."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services import budgets
from penstock.services.approvals.actions import AllowanceGift
from penstock.services.datasets import allowances
from penstock.services.previews import given_allowance
from penstock.services.previews.given_allowance import GivenAllowanceView
from penstock.services.schemas.datasets import AllowanceSpec, AllowanceView
from penstock.spec_fields import folded
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, OVERSEER, Pages
from penstock.web.presenters import budget_charts

pages = Pages()


@pages.get("/datasets/<dataset>/allowances", OVERSEER)
def dataset_allowances(visit: Visit, dataset: str) -> Response:
    """Show each tier's allowance, with the forms that give one and take it back."""
    views = allowances.listing(visit.server, visit.principal, dataset)
    chosen = next((view for view in views if view.tier == request.args.get("tier")), None)
    return _page(visit, dataset, Form() if chosen is None else Form(_as_typed(chosen)))


@pages.post("/datasets/<dataset>/allowances", ADMIN)
def give_allowance(visit: Visit, dataset: str) -> Response:
    """Give a tier an allowance, in place of any before, or propose it; or preview it."""
    given = request.form

    def look() -> Response:
        tier, spec = _tier(visit, dataset, given), _spec(given)
        preview = given_allowance.preview(visit.server, visit.principal, dataset, tier, spec)
        return _page(visit, dataset, form_input.kept(given), preview)

    def act() -> Response:
        tier, spec = _tier(visit, dataset, given), _spec(given)
        name = budgets.show(visit.server, visit.principal, dataset).dataset
        act = AllowanceGift(dataset=name, tier=tier, epsilon=spec.epsilon, users=spec.users)
        return do_or_propose(
            visit,
            act,
            lambda view: visit.go("dataset_allowances", dataset=view.dataset, given=view.tier),
        )

    return tried(
        look if "look" in given else act,
        lambda problem: _page(visit, dataset, form_input.refused(given, problem)),
    )


@pages.post("/datasets/<dataset>/allowances/taking-back", ADMIN)
def take_allowance_back(visit: Visit, dataset: str) -> Response:
    """Take back the allowance of the tier whose name was typed."""
    given = request.form

    def act() -> tuple[Response, str]:
        tier = _typed(allowances.listing(visit.server, visit.principal, dataset), given)
        view = allowances.take_back(visit.server, visit.principal, dataset, tier)
        response = visit.go("dataset_allowances", dataset=view.dataset, taken=view.tier)
        return response, response.location or ""

    return tried(
        lambda: once(visit, act),
        lambda problem: _page(visit, dataset, form_input.refused(given, problem)),
    )


def _tier(visit: Visit, dataset: str, given: Mapping[str, str]) -> str:
    """Return the tier that a form chooses.  Raises ``InvalidInput`` without one that exists."""
    chosen = given.get("tier", "").strip()
    for tier in budgets.show(visit.server, visit.principal, dataset).tiers:
        if tier.tier == chosen:
            return chosen
    raise InvalidInput("Choose a tier that has a budget in this dataset.", pointer="/tier")


def _as_typed(view: AllowanceView) -> dict[str, str]:
    """Return the fields of the form as they would give the same allowance again."""
    users = "\n".join(view.users or [])
    return {"tier": view.tier, "epsilon": f"{view.epsilon!r}", "users": users}


def _spec(given: Mapping[str, str]) -> AllowanceSpec:
    """Return what a form gives.  Raises ``InvalidInput``."""
    names = [line.strip() for line in given.get("users", "").splitlines() if line.strip()]
    epsilon = form_input.number(given.get("epsilon", ""))
    spec: AllowanceSpec = checked(
        AllowanceSpec, form_input.filled(epsilon=epsilon, users=names or None)
    )
    return spec


def _typed(views: list[AllowanceView], given: Mapping[str, str]) -> str:
    """Return the tier whose name was typed.  Raises ``InvalidInput`` if it has no allowance."""
    typed = given.get("back", "").strip()
    for view in views:
        if folded(view.tier) == folded(typed):
            return view.tier
    named = " or ".join(repr(view.tier) for view in views)
    raise InvalidInput(
        f"No allowance was taken back. Type {named}."
        if named
        else "No tier has an allowance in this dataset, so there is none to take back.",
        pointer="/back",
    )


def _page(
    visit: Visit, name: str, form: Form, preview: GivenAllowanceView | None = None
) -> Response:
    budget = budgets.show(visit.server, visit.principal, name)
    views = [tier.allowance for tier in budget.tiers if tier.allowance is not None]
    known = {view.tier for view in views}
    given, taken = request.args.get("given"), request.args.get("taken")
    return visit.page(
        "data/allowances.html",
        form.status,
        budget=budget,
        allowances=views,
        picture=budget_charts.allowed(budget.dataset, views, "allowed") if views else None,
        form=form,
        preview=preview,
        given=given if given in known else None,
        taken=taken if taken in {tier.tier for tier in budget.tiers} - known else None,
    )
