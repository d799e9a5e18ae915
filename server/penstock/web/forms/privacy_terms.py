"""Read the privacy terms of a query or stream from a form: its mechanism and levels."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from penstock.connectors.planning.refusals import pointer
from penstock.errors import InvalidInput
from penstock.services.schemas.views import PrivacyBudget
from penstock.web.forms.form_input import filled, number

_BY_TIER = ("level ", "false ")
"""How the names of fields begin that a form has for every tier."""


def require_own(given: Mapping[str, str], own: Collection[str]) -> None:
    """Raise ``InvalidInput`` for a level of a tier other than ``own``, and for a share of budgets.

    It is the same for tiers that exist and for others.
    """
    if given.get("wish") == "share" or given.get("share", "").strip():
        raise InvalidInput(
            "You give the level of your own tier, for example an epsilon; a share would be of every"
            " tier's budget.",
            pointer="/share",
        )
    for name, text in given.items():
        tier = next((name.removeprefix(of) for of in _BY_TIER if name.startswith(of)), None)
        if tier is not None and tier not in own and text.strip():
            raise InvalidInput(
                f"You give the level of your own tier alone, {' or '.join(own)}; leave {tier!r}"
                " out.",
                pointer=pointer("levels", tier),
            )


def starting_levels(budgets: Mapping[str, PrivacyBudget]) -> dict[str, str]:
    """Return a tenth of each tier's budget as text: the epsilon with which a form begins."""
    return {tier: f"{budget.epsilon / 10:.3g}" for tier, budget in budgets.items()}


def terms(given: Mapping[str, str], tiers: Iterable[str]) -> dict[str, Any]:
    """Return the mechanism with its parameter, and the levels; their model checks them."""
    mechanism, field = given.get("mechanism", "gaussian"), given.get("wish", "epsilon")
    own = {"laplace": "granularity", "generalized_gaussian": "p"}.get(mechanism)
    settled = (
        {"share": number(given.get("share", ""))}
        if field == "share"
        else {"levels": dict(_levels(given, tiers, field))}
    )
    return {
        "mechanism": mechanism,
        **settled,
        **filled(max_levels=number(given.get("max_levels", ""))),
        **(filled(**{own: number(given.get(own, ""))}) if own else {}),
    }


def _levels(
    given: Mapping[str, str], tiers: Iterable[str], field: str
) -> Iterable[tuple[str, dict[str, object]]]:
    sure = filled(confidence=number(given.get("confidence", ""))) if field == "half_width" else {}
    for tier in tiers:
        text = given.get(f"level {tier}", "")
        value = number(text)
        # A form begins with epsilons, which as another parameter would be other levels.
        is_start = field != "epsilon" and text == given.get(f"start {tier}")
        if value is not None and not is_start:
            yield tier, {field: value, **sure}
