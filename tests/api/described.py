"""Provide parts of the OpenAPI document, as tests look at them."""

from collections.abc import Iterator
from typing import Any

from penstock.api.openapi import document


def references(part: Any) -> Iterator[str]:
    """Yield every reference in a document."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Return verb, path and description of every operation."""
    return [
        (verb, path, described)
        for path, verbs in document()["paths"].items()
        for verb, described in verbs.items()
    ]
