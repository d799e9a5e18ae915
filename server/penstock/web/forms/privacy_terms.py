"""Read the privacy terms of a query or stream from a form: its mechanism and levels."""

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.web.forms.form_input import filled, number


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
        value = number(given.get(f"level {tier}", ""))
        if value is not None:
            yield tier, {field: value, **sure}
