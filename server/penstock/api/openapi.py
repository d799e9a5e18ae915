"""Make the OpenAPI 3.1 document from the declared operations and nothing else.

``python -m penstock.api > clients/openapi.json`` writes the committed copy.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

import penstock
from penstock.api import idempotency, parameters
from penstock.api.meanings import REFERENCE, explained, explained_parameter
from penstock.api.operations import PROPOSED, SIGNED_IN, Operation
from penstock.api.routes import OPERATIONS
from penstock.http import answers, problems, tabular_formats
from penstock.http.reports.report_answers import FORMS as REPORTS

BEARER = "bearer"
RELATIONS = {
    "health": "Whether the server runs, and whether it can serve.",
    "users": "Users, their clearance and their tokens.",
    "tiers": "Ranked clearance levels.",
    "datasets": "Sources of records, and their budgets.",
    "queries": "Fixed statistics over a dataset.",
    "releases": "Values with noise: drawn once, stored, and the same for every request.",
    "streams": "Data that arrive over time, released as running totals by tier.",
    "schedules": "New data and queries by a timetable.",
    "requests": "Queries that analysts want registered, and what admins decide about them.",
    "proposals": "Actions that need two people under the two-person rule.",
    "audit": "Which releases each user received, and what groups of users know together.",
}

PROBLEM: Mapping[str, Any] = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457). A budget refusal also carries the"
    " tier, what was needed, what is left, which queries spent it and the largest share that"
    " would fit.",
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
                "required": ["pointer", "detail"],
            },
        },
        "request_id": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "code", "errors", "request_id"],
}

_OF_A_CLASS = re.compile("^(?:Hold|Represent) ")

_TABLES: Mapping[str, Any] = {
    # OpenAPI 3.1 describes binary content by its media type, without an encoding.
    media_type: {
        "schema": {"type": "string"}
        if media_type == "text/csv"
        else {"type": "string", "contentMediaType": media_type}
    }
    for form, media_type in tabular_formats.FORMS.items()
    if form != "json"
}
_NOTE: Mapping[str, Any] = {"schema": {"type": "string"}}
_DOCUMENTS: Mapping[str, Any] = {
    REPORTS["html"]: {"schema": {"type": "string"}},
    REPORTS["pdf"]: {"schema": {"type": "string", "contentMediaType": REPORTS["pdf"]}},
}
_REPLAYED: Mapping[str, Any] = {
    idempotency.REPLAYED: {
        "description": "Present where this is the answer to an earlier request with the key.",
        "required": False,
        "schema": {"type": "string", "enum": ["true"]},
    }
}


_AS_THEY_ARE = frozenset({"HistogramView"})
"""Views that keep their suffix, since a part of a body has the short name: the histogram."""


class _Untitled(GenerateJsonSchema):
    """Make schemas without the titles that only repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's shape
        return False


@functools.cache
def document() -> dict[str, Any]:
    """Return the document as plain JSON values.  Do not change what it returns."""
    bodies, views, schemas = _schemas()
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.verb.lower()] = _operation(
            operation, bodies.get(operation.name), views[operation.name]
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Penstock",
            "version": penstock.__version__,
            "summary": "A privacy-budget server with tiered multiple release",
            "description": "Every statistic is released through one noise process, so that any"
            " set of readers learns exactly what its best-informed member knows.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{BEARER: []}],
        "tags": [{"name": name, "description": words} for name, words in RELATIONS.items()],
        "paths": paths,
        "components": {
            "schemas": explained({**schemas, "Problem": dict(PROBLEM)}),
            "securitySchemes": {
                BEARER: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token from `penstock token create` or from an admin.",
                }
            },
        },
    }


def text() -> str:
    """Return the document as it is committed, for authors of clients."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def _schemas() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the schema of each operation's body and answer, and those that they refer to."""
    inputs: list[tuple[str, Any, TypeAdapter[Any]]] = []
    for operation in OPERATIONS:
        inputs.append(("answer " + operation.name, "serialization", operation.answer))
        if operation.body is not None:
            inputs.append(("body " + operation.name, "validation", operation.body))
    named, shared = TypeAdapter.json_schemas(
        inputs, ref_template=REFERENCE + "{model}", schema_generator=_Untitled
    )
    plain = {name: _plain(schema) for (name, _), schema in named.items()}
    return (
        {name[5:]: schema for name, schema in plain.items() if name.startswith("body ")},
        # The adapter of each answer describes a list of such answers.
        {name[7:]: schema["items"] for name, schema in plain.items() if name.startswith("answer ")},
        {_short(name): _plain(schema) for name, schema in shared.get("$defs", {}).items()},
    )


def _plain(schema: JsonSchemaValue | Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            name: _text(name, _plain(part))
            for name, part in schema.items()
            # Titles of classes; a field that is called title has a schema, not a text.
            # A default of null is dropped as well: the field is simply not required.
            if not (name == "title" and isinstance(part, str))
            and not (name == "default" and part is None)
        }
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return [_plain(part) for part in schema]
    return schema


def _text(name: str, part: Any) -> Any:
    if name == "$ref":
        return REFERENCE + _short(part.removeprefix(REFERENCE))
    if name == "description" and isinstance(part, str):
        # Docstrings of classes begin with "Hold"; the document describes the thing itself.
        words = _OF_A_CLASS.sub("", " ".join(part.replace("``", "`").split()))
        return words[:1].upper() + words[1:]
    return part


def _short(name: str) -> str:
    """Return a schema's short name: ``TierPage`` for ``Page_TierView_``, ``Tier`` for ``TierView``.

    A view keeps its name if a part of a body has the short one.
    """
    page = re.fullmatch(r"Page_(\w+?)_", name)
    if page:
        return _short(page.group(1)) + "Page"
    return name if name in _AS_THEY_ARE else name.removesuffix("View")


def _operation(operation: Operation, body: Any, answer: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.subject],
        "summary": operation.summary.removesuffix("."),
        "description": " ".join(
            [f"For {operation.policy.sentence}.", *operation.description.split()]
        ),
        "parameters": [
            explained_parameter(parameter, operation.name) for parameter in _parameters(operation)
        ],
    }
    if not operation.policy.needs_token:
        described["security"] = []
    if body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {answers.MEDIA_TYPE: {"schema": body}},
        }
    described["responses"] = {
        str(operation.status): {
            "description": "Done." if operation.status == 200 else "Created.",
            **({"headers": _REPLAYED} if idempotency.applies(operation) else {}),
            "content": {
                answers.LINES if operation.lines else answers.MEDIA_TYPE: {"schema": answer},
                **_tables(operation),
                **({tabular_formats.NOTES["note"]: _NOTE} if operation.noted else {}),
                **(_DOCUMENTS if operation.documented else {}),
            },
        },
        **({str(PROPOSED): _proposed(operation)} if operation.proposes else {}),
        **{str(status): _refusal(status) for status in refusals(operation)},
    }
    return described


def _tables(operation: Operation) -> Mapping[str, Any]:
    if operation.lines:
        return {"text/csv": _TABLES["text/csv"]} if operation.tabular else {}
    return _TABLES if operation.tabular else {}


def _proposed(operation: Operation) -> dict[str, Any]:
    return {
        "description": "Nothing was done: under the two-person rule this is now a proposal,"
        " and another admin has to approve it.",
        **({"headers": _REPLAYED} if idempotency.applies(operation) else {}),
        "content": {answers.MEDIA_TYPE: {"schema": {"$ref": REFERENCE + "Proposal"}}},
    }


def refusals(operation: Operation) -> list[int]:
    """Return every status that an operation may refuse with."""
    # 422 everywhere: an argument in the query string may be unknown.
    statuses = {422, 500, 503, *operation.refusals}
    if operation.policy.needs_token:
        statuses |= {401, 429}
        if operation.policy is not SIGNED_IN:
            statuses.add(403)
    if operation.path_parameters or operation.parameters:
        statuses.add(404)
    if operation.body is not None:
        statuses |= {400, 413, 415}
    if idempotency.applies(operation):
        statuses.add(409)
    return sorted(statuses)


_RETRY_AFTER: Mapping[str, Any] = {
    "Retry-After": {
        "description": "The number of seconds to wait before another request.",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    }
}


def _refusal(status: int) -> dict[str, Any]:
    return {
        "description": f"{problems.TITLES[status]}.",
        **({"headers": _RETRY_AFTER} if status == 429 else {}),
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": REFERENCE + "Problem"}}},
    }


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    for name in operation.path_parameters:
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    if idempotency.applies(operation):
        yield {
            "name": idempotency.HEADER,
            "in": "header",
            "required": False,
            "description": "A key that the caller chooses. A request repeated with it within a day"
            " is not carried out again; its answer has the header Idempotency-Replayed.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }
    for parameter in operation.parameters:
        schema = _plain(parameter.adapter.json_schema(schema_generator=_Untitled))
        # An argument that may be left out is not null: a query string has no null.
        choices = [choice for choice in schema.get("anyOf", [schema]) if choice != {"type": "null"}]
        described = {
            "name": parameter.name,
            "in": "query",
            "required": parameter.required,
            "description": parameter.sentence,
            "schema": choices[0],
        }
        if choices[0].get("type") == "array":
            described |= {"style": "form", "explode": False}
        yield described
    if operation.windowed:
        for name, sentence in parameters.WINDOW.items():
            yield {
                "name": name,
                "in": "query",
                "required": False,
                "description": sentence,
                "schema": {"type": "integer", "minimum": 1}
                if name == parameters.LIMIT
                else {"type": "string"},
            }
