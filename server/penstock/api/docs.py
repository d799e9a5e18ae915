"""Serve the document for programs at ``/openapi.json``, and the page for people at ``/docs``.

The server renders the page from the document; it has no script and loads nothing from other sites.
"""

import json
from typing import Any

from flask import Blueprint, Response, render_template, request

from penstock.api.meanings import REFERENCE
from penstock.api.openapi import document
from penstock.api.operations import ANYBODY
from penstock.http.answers import json_answer

DOCUMENT = "openapi"
PAGE = "docs"
POLICIES = {DOCUMENT: ANYBODY, PAGE: ANYBODY}
PATHS = {DOCUMENT: "/openapi.json", PAGE: "/docs"}


def add_documents(blueprint: Blueprint) -> None:
    """Add the routes of the document and of the page."""
    for name, view in ((DOCUMENT, _openapi), (PAGE, _page)):
        blueprint.add_url_rule(
            PATHS[name], name, view, methods=["GET"], provide_automatic_options=False
        )


def _openapi() -> Response:
    described = document()
    if request.script_root:
        described = {**described, "servers": [{"url": request.script_root}]}
    return json_answer(described, 200)


def _page() -> str:
    described = document()
    return render_template(
        "docs.html",
        info=described["info"],
        subjects=[
            (
                tag,
                [
                    operation
                    for operation in _operations(described)
                    if tag["name"] in operation["tags"]
                ],
            )
            for tag in described["tags"]
        ],
        schemas=sorted(described["components"]["schemas"].items()),
        shown=shown,
        written=written,
    )


def _operations(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"verb": verb.upper(), "path": path, **operation}
        for path, verbs in described["paths"].items()
        for verb, operation in verbs.items()
    ]


def written(example: object, indent: int | None = None) -> str:
    """Return an example as JSON: on one line, or its fields below each other."""
    if isinstance(example, dict) and indent:
        fields = [f"{json.dumps(name)}: {written(part)}" for name, part in example.items()]
        return "{\n" + ",\n".join(" " * indent + field for field in fields) + "\n}"
    return json.dumps(example, ensure_ascii=False)


def shown(schema: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return a schema in words: texts, each with the schema that it links to, if any."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        return [(name, name)]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        words: list[tuple[str, str | None]] = []
        for choice in choices:
            words += [*([(" or ", None)] if words else []), *shown(choice)]
        return words
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        return [(" or ".join(f'"{value}"' for value in values), None)]
    kind = schema.get("type", "anything")
    if kind == "array":
        return [("list of ", None), *shown(schema.get("items", {}))]
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return [("object of ", None), *shown(schema["additionalProperties"])]
    return [(" or ".join(kind) if isinstance(kind, list) else str(kind), None)]
