"""Correct the declaration of a dataset, or withdraw it before anything is charged."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput, PenstockError
from penstock.services.approvals.actions import Withdrawal
from penstock.services.datasets import corrections, datasets, file_columns
from penstock.services.datasets.corrections import WithdrawnView
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.forms import dataset_form, form_input
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/datasets/<dataset>/declaration", ADMIN)
def declaration(visit: Visit, dataset: str) -> Response:
    """Show the declaration of a dataset as a form."""
    return _form(visit, dataset, Form())


@pages.post("/datasets/<dataset>/declaration", ADMIN)
def correct_dataset(visit: Visit, dataset: str) -> Response:
    """Correct the declaration of a dataset."""
    given = request.form

    def act() -> tuple[Response, str]:
        correction = _correction(datasets.show(visit.server, visit.principal, dataset), given)
        made = corrections.correct(visit.server, visit.principal, dataset, correction)
        response = visit.go("dataset", dataset=made.name, corrected="1")
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, dataset, form_input.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


@pages.post("/datasets/<dataset>/withdrawal", ADMIN)
def withdraw_dataset(visit: Visit, dataset: str) -> Response:
    """Withdraw the newest version of a dataset, or propose it."""
    given = request.form

    def led(done: WithdrawnView) -> Response:
        if done.newest is None:
            return visit.go("catalogue")
        return visit.go("dataset", dataset=done.dataset)

    def act() -> Response:
        require_named(given, dataset)
        return do_or_propose(visit, Withdrawal(dataset=dataset), led)

    return tried(act, lambda problem: _form(visit, dataset, form_input.refused(given, problem)))


def _correction(before: DatasetView, given: Mapping[str, str]) -> CorrectionRequest:
    """Return the correction that a form describes.  Raises ``InvalidInput``."""
    # Of the place only that there is one matters: the form does not change the source.
    place = before.source.get("uri") or before.source.get("table", "")
    typed = dataset_form.spec_of(given, (), uri=place)
    fields = [name for name in ("privacy_unit", "neighboring", "delta") if _shown(name, given)]
    changes = {name: typed[name] for name in fields if name in typed}
    # Columns that the form has no room for stay as they are declared.
    shown = {given.get(f"column {place}") for place in range(dataset_form.MOST_COLUMNS)}
    left_out = {
        name: None for name in before.columns if name in shown and name not in typed["columns"]
    }
    columns = {**typed["columns"], **left_out}
    if "max_units" in typed:
        changes["max_units"] = typed["max_units"]
    correction_request: CorrectionRequest = checked(
        CorrectionRequest, {**changes, **({"columns": columns} if columns else {})}
    )
    return correction_request


def _shown(name: str, given: Mapping[str, str]) -> bool:
    """Return True if the sent form has a field for ``name``."""
    return {"privacy_unit": "unit"}.get(name, name) in given


def _form(visit: Visit, name: str, form: Form) -> Response:
    dataset = datasets.show(visit.server, visit.principal, name)
    unit = dataset.privacy_unit
    return visit.page(
        "data/declaration.html",
        form.status,
        dataset=dataset,
        charged=corrections.has_charges(visit.server, visit.principal, name),
        columns=_columns(visit, dataset),
        unit=next(iter(unit)) if isinstance(unit, dict) else unit,
        unit_column=unit.get("column") if isinstance(unit, dict) else None,
        lists=dataset_form,
        form=form,
    )


def _columns(visit: Visit, dataset: DatasetView) -> dict[str, str]:
    """Return the declared columns and then the file's others, each with its type."""
    declared = {name: str(column["type"]) for name, column in dataset.columns.items()}
    uri = dataset.source.get("uri")
    if uri is None:
        return declared
    try:
        columns = file_columns.columns(visit.server, visit.principal, uri)
    except InvalidInput:  # the file is gone or was replaced: show the declared columns
        return declared
    return {**declared, **{name: kind for name, kind in columns.items() if name not in declared}}
