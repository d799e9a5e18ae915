"""Read the form that opens a stream; its model reports what is wrong with it."""

from typing import Any

from penstock.services.schemas.views import DatasetView
from penstock.web.forms.form_input import filled, number
from penstock.web.forms.privacy_terms import terms
from penstock.web.forms.query_form import Given, sensitivity

_NUMBERS = ("dimension", "step", "bound", "max_steps_per_unit")


def stream(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the spec that a form describes; without a length the stream has no end."""
    structure = given.get("structure", "auto")
    return {
        "name": given.get("name", "").strip(),
        "dataset": dataset.name,
        "structure": structure,
        "length": number(given.get("length", "")),
        **filled(
            k=number(given.get("k", "")) if structure == "kary" else None,
            sensitivity=sensitivity(given) or None,
            **{name: number(given.get(name, "")) for name in _NUMBERS},
        ),
        **terms(given, dataset.budgets),
    }
