"""Change titles and other texts for readers, of datasets, queries and streams."""

from collections.abc import Callable, Mapping
from typing import Final

from flask import Response, request

from penstock.connectors.planning.refusals import checked, refusal
from penstock.errors import InvalidInput
from penstock.services import rewording
from penstock.services.datasets import datasets
from penstock.services.queries import queries
from penstock.services.schemas.streams import StreamView
from penstock.services.schemas.views import DatasetView, QueryView
from penstock.services.schemas.wordings.wordings import WordingChange, WordingView, texts_of
from penstock.services.streams import streams
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()

_View = DatasetView | QueryView | StreamView

SHOWN: Final[Mapping[str, Callable[..., _View]]] = {
    "dataset": datasets.show,
    "query": queries.show,
    "stream": streams.show,
}
CHANGED: Final[Mapping[str, Callable[..., _View]]] = {
    "dataset": rewording.of_dataset,
    "query": rewording.of_query,
    "stream": rewording.of_stream,
}
_MARK: Final = " = "
_UNREADABLE: Final = (
    "Line {line} must be a code, an equals sign between spaces, and a text; each code once."
)


@pages.get("/datasets/<dataset>/texts", ADMIN)
def dataset_texts(visit: Visit, dataset: str) -> Response:
    """Show the form of a dataset's texts."""
    return _form(visit, "dataset", dataset)


@pages.post("/datasets/<dataset>/texts", ADMIN)
def change_dataset_texts(visit: Visit, dataset: str) -> Response:
    """Change texts of a dataset."""
    return _change(visit, "dataset", dataset)


@pages.get("/queries/<query>/texts", ADMIN)
def query_texts(visit: Visit, query: str) -> Response:
    """Show the form of a query's texts."""
    return _form(visit, "query", query)


@pages.post("/queries/<query>/texts", ADMIN)
def change_query_texts(visit: Visit, query: str) -> Response:
    """Change texts of a query."""
    return _change(visit, "query", query)


@pages.get("/streams/<stream>/texts", ADMIN)
def stream_texts(visit: Visit, stream: str) -> Response:
    """Show the form of a stream's texts."""
    return _form(visit, "stream", stream)


@pages.post("/streams/<stream>/texts", ADMIN)
def change_stream_texts(visit: Visit, stream: str) -> Response:
    """Change texts of a stream."""
    return _change(visit, "stream", stream)


def _form(visit: Visit, kind: str, name: str, form: Form | None = None) -> Response:
    view = SHOWN[kind](visit.server, visit.principal, name)
    form = form or Form(_fields(view))
    return visit.page(
        "wordings/texts.html",
        form.status,
        kind=kind,
        name=view.name,
        lined=_is_lined(view.labels),
        form=form,
    )


def _change(visit: Visit, kind: str, name: str) -> Response:
    given = request.form

    def act() -> Response:
        texts = _texts(given)
        made = CHANGED[kind](visit.server, visit.principal, name, texts)
        return visit.go(kind, **{kind: made.name})

    return tried(act, lambda problem: _form(visit, kind, name, form_input.refused(given, problem)))


def _fields(view: WordingView) -> dict[str, str]:
    """Return the fields of the form, as the texts are now."""
    return {
        "title": view.title,
        "description": view.description,
        "unit": view.unit,
        "tags": ", ".join(view.tags),
        "labels": "\n".join(f"{code}{_MARK}{label}" for code, label in view.labels.items()),
        "owners": ", ".join(view.owners),
    }


def _is_lined(labels: Mapping[str, str]) -> bool:
    """Return True if lines can say these labels: no code looks like a line itself."""
    return all(code == code.strip() and _MARK not in code and code for code in labels)


def _texts(given: Mapping[str, str]) -> dict[str, object]:
    """Return the texts that a form gives.  Raises ``InvalidInput`` with every mistake."""
    sent: dict[str, object] = {name: given.get(name, "") for name in ("title", "unit")}
    sent["description"] = given.get("description", "")
    for name in ("tags", "owners"):
        parts = (part.strip() for part in given.get(name, "").split(","))
        sent[name] = [part for part in parts if part]
    wrong: list[tuple[str, str]] = []
    if "labels" in given:
        sent["labels"], wrong = _labels(given["labels"])
    try:
        texts = texts_of(checked(WordingChange, sent))
    except InvalidInput as problem:
        raise refusal([*problem.errors, *wrong]) from None
    if wrong:
        raise refusal(wrong)
    return texts


def _labels(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the labels by code, and what is wrong with lines that give none."""
    labels: dict[str, str] = {}
    wrong = []
    for place, line in enumerate(text.splitlines(), 1):
        code, mark, label = line.partition(_MARK)
        if not line.strip():
            continue
        if not mark or code.strip() in labels:
            wrong.append(("/labels", _UNREADABLE.format(line=place)))
            continue
        labels[code.strip()] = label
    return labels, wrong
