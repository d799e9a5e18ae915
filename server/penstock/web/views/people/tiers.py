"""Show tiers and their holders as a ladder; insert, change and delete tiers."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import NotFound
from penstock.services.approvals.actions import TierDeletion
from penstock.services.people import tier_changes
from penstock.services.previews import clearance_preview
from penstock.services.previews.clearance_preview import LadderView, TierHoldersView
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.web.forms import form_input
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters import tier_ladder

pages = Pages()


@pages.get("/tiers", ADMIN, menu="Tiers")
def ladder(visit: Visit) -> Response:
    """Show the ladder, with the forms that move people and insert tiers."""
    return _ladder(visit, Form())


@pages.post("/tiers", ADMIN)
def insert_tier(visit: Visit) -> Response:
    """Insert a tier between two others, on top, or at a rank."""
    given = request.form

    def act() -> tuple[Response, str]:
        spec = checked(TierSpec, {"name": given.get("name", "").strip(), **_place(given)})
        made = tier_changes.create(visit.server, visit.principal, spec)
        response = visit.go("ladder", made=made.name)
        return response, response.location or ""

    return tried(
        lambda: once(visit, act), lambda problem: _ladder(visit, form_input.refused(given, problem))
    )


@pages.get("/tiers/<tier>", ADMIN)
def tier(visit: Visit, tier: str) -> Response:
    """Show one tier and its holders, with the forms that change it."""
    return _tier(visit, tier, Form())


@pages.post("/tiers/<tier>", ADMIN)
def change_tier(visit: Visit, tier: str) -> Response:
    """Change the purpose or the rank of a tier."""
    given = request.form

    def act() -> Response:
        spec = {**_place(given), "description": given.get("description", "")}
        changed = tier_changes.change(
            visit.server, visit.principal, tier, checked(TierChange, spec)
        )
        return visit.go("tier", tier=changed.name, changed="1")

    return tried(act, lambda problem: _tier(visit, tier, form_input.refused(given, problem)))


@pages.post("/tiers/<tier>/deletion", ADMIN)
def delete_tier(visit: Visit, tier: str) -> Response:
    """Delete a tier that no user holds, or propose it."""

    def act() -> Response:
        require_named(request.form, tier)
        return do_or_propose(
            visit, TierDeletion(tier=tier), lambda _: visit.go("ladder", deleted="1")
        )

    return tried(act, lambda problem: _tier(visit, tier, form_input.refused(request.form, problem)))


def _place(given: Mapping[str, str]) -> dict[str, object]:
    """Return the place and the purpose of a tier that a form gives."""
    return form_input.filled(
        above=given.get("above", ""),
        rank=form_input.number(given.get("rank", "")),
        description=given.get("description", "").strip(),
    )


def _ladder(visit: Visit, form: Form) -> Response:
    view = clearance_preview.ladder(visit.server, visit.principal)
    return visit.page(
        "people/tiers.html",
        form.status,
        ladder=view,
        picture=tier_ladder.shown(view, "Tiers and who holds them"),
        form=form,
        **_texts(view, request.args),
    )


def _texts(view: LadderView, texts: Mapping[str, str]) -> dict[str, object]:
    """Return what was just done, by the address, unless the ladder contradicts it."""
    moved, made = texts.get("moved"), texts.get("made")
    holds = {name: tier.name for tier in view.tiers for name in tier.people}
    known = {tier.name for tier in view.tiers}
    return {
        "moved": moved if moved in holds or moved in view.without else None,
        "now": holds.get(moved or ""),
        "made": made if made in known else None,
        "deleted": "deleted" in texts,
    }


def _tier(visit: Visit, name: str, form: Form) -> Response:
    view = clearance_preview.ladder(visit.server, visit.principal)
    return visit.page(
        "people/tier.html",
        form.status,
        tier=_tier_of(view.tiers, name),
        ladder=view,
        form=form,
        changed="changed" in request.args,
    )


def _tier_of(among: list[TierHoldersView], name: str) -> TierHoldersView:
    for tier_view in among:
        if tier_view.name == name:
            return tier_view
    raise NotFound(f"There is no tier {name!r}.")
