"""Test that every field, body and parameter is explained, with an example that is valid."""

import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it publishes no annotations
import pytest
from tests.api.described import operations, references

from penstock.api import meanings
from penstock.api.openapi import document


@pytest.mark.parametrize("name", sorted(document()["components"]["schemas"]))
def test_every_field_has_its_meaning_and_an_example_that_is_valid(name: str) -> None:
    components = document()["components"]
    schema = components["schemas"][name]
    for field, part in schema.get("properties", {}).items():
        assert part["description"].endswith("."), field
        assert part["examples"], field
        _require_valid(part["examples"], part, components)
    _require_valid(schema.get("examples", []), schema, components)


def _require_valid(examples: list[Any], schema: dict[str, Any], components: Any) -> None:
    validator = jsonschema.Draft202012Validator({**schema, "components": components})
    for example in examples:
        validator.validate(example)


@pytest.mark.parametrize(("verb", "path", "described"), operations())
def test_every_body_and_parameter_has_an_example(
    verb: str, path: str, described: dict[str, Any]
) -> None:
    for parameter in described["parameters"]:
        assert parameter["description"].endswith("."), (verb, path)
        assert "example" in parameter, (verb, path)
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    schemas = document()["components"]["schemas"]
    for reference in references(body):
        assert schemas[reference.removeprefix("#/components/schemas/")]["examples"], (verb, path)


def test_nothing_is_explained_that_is_not_there() -> None:
    words = tomllib.loads(Path(meanings.__file__).with_suffix(".toml").read_text())
    bodies, parameters = words.pop("bodies"), words.pop("parameters")
    schemas = document()["components"]["schemas"]
    places = {
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field in schema.get("properties", {})
    }
    used = {place if place in words else place.partition(".")[2] for place in places}
    asked = {
        name
        for _, _, described in operations()
        for one in described["parameters"]
        for name in (one["name"], f"{described['operationId']}.{one['name']}")
    }
    assert words.keys() <= used | asked
    assert parameters.keys() <= asked
    assert bodies.keys() <= schemas.keys()
