"""Test the OpenAPI document: whole, valid, committed, and true of the answers."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it publishes no annotations
import pytest
from tests.api.described import operations, references
from tests.api.world import DATASET, QUERY, World, parsed
from tests.support.places import ROOT

from penstock.api import OPERATIONS
from penstock.api.openapi import document, text
from penstock.connectors.specs.empty_fields import TO_ENTER

COMMITTED = ROOT / "clients" / "openapi.json"


def test_the_committed_document_is_that_of_the_server(world: World) -> None:
    assert COMMITTED.read_text() == text(), (
        "write it anew: python -m penstock.api > clients/openapi.json"
    )
    served = world.call("GET", "/openapi.json")
    assert served.status_code == 200
    assert parsed(served) == document()


def test_the_document_says_what_it_is() -> None:
    described = document()
    assert described["openapi"].startswith("3.1.")
    assert {"title", "version", "license"} <= set(described["info"])
    assert described["security"] == [{"bearer": []}]


def test_every_reference_is_met_and_every_schema_is_used() -> None:
    described = document()
    met = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert set(references(described)) == met


@pytest.mark.parametrize("name", sorted(document()["components"]["schemas"]))
def test_every_schema_is_valid_and_described(name: str) -> None:
    schema = document()["components"]["schemas"][name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema.get("description") or schema.get("enum"), name


@pytest.mark.parametrize(("verb", "path", "described"), operations())
def test_every_operation_is_described(verb: str, path: str, described: dict[str, Any]) -> None:
    assert described["summary"]
    assert described["description"].startswith("For ")
    assert described["tags"][0] in {tag["name"] for tag in document()["tags"]}
    named = {one["name"] for one in described["parameters"] if one["in"] == "path"}
    assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}
    takes_a_body = verb in {"post", "patch", "put"} and not path.endswith(
        ("/retire", "/approval", "/withdraw")
    )
    assert ("requestBody" in described) == takes_a_body
    statuses = {int(status) for status in described["responses"]}
    assert len(statuses & {200, 201}) == 1
    assert {422, 500, 503} <= statuses
    assert (401 in statuses) == ("security" not in described)
    for parameter in described["parameters"]:
        jsonschema.Draft202012Validator.check_schema(parameter["schema"])


def test_operations_have_names_of_their_own() -> None:
    names = [described["operationId"] for _, _, described in operations()]
    assert len(set(names)) == len(names) == len(OPERATIONS)


def test_anybody_may_see_health_alone() -> None:
    unguarded = {path for _, path, described in operations() if described.get("security") == []}
    assert unguarded == {"/healthz", "/readyz"}


def valid(schema: dict[str, Any], instance: Any) -> None:
    """Raise unless ``instance`` is what ``schema`` of the document describes."""
    whole = {**schema, "components": document()["components"]}
    jsonschema.Draft202012Validator(whole).validate(instance)


VALUELESS = {name: part for name, part in {**QUERY, "name": "new"}.items() if name != "values"}
CALLS = [
    ("get", "/healthz", {}, None, "ann"),
    ("get", "/api/v1/me", {}, None, "ann"),
    ("get", "/api/v1/users", {}, None, "root"),
    ("post", "/api/v1/users", {}, {"name": "new", "roles": ["auditor"]}, "root"),
    ("get", "/api/v1/users/{user}", {"user": "ann"}, None, "root"),
    ("patch", "/api/v1/users/{user}", {"user": "ann"}, {"clearance": None}, "root"),
    ("post", "/api/v1/users/{user}/tokens", {"user": "ann"}, {"expires_in": "30d"}, "ann"),
    ("get", "/api/v1/users/{user}/tokens", {"user": "ann"}, None, "ann"),
    ("get", "/api/v1/tiers", {}, None, "ann"),
    ("post", "/api/v1/tiers", {}, {"name": "new"}, "root"),
    ("get", "/api/v1/datasets", {}, None, "root"),
    ("post", "/api/v1/datasets", {}, {**DATASET, "name": "new"}, "root"),
    ("get", "/api/v1/datasets/{dataset}/budget", {"dataset": "sites"}, None, "root"),
    ("get", "/api/v1/queries", {}, None, "ann"),
    ("post", "/api/v1/queries", {}, {**QUERY, "name": "new"}, "root"),
    ("post", "/api/v1/queries/preview", {}, {**QUERY, "name": "new"}, "ann"),
    ("post", "/api/v1/queries/preview", {}, VALUELESS, "root"),
    ("post", "/api/v1/queries/preview", {}, {"query": "visits"}, "root"),
    ("get", "/api/v1/queries/{query}", {"query": "visits"}, None, "ann"),
    ("post", "/api/v1/queries/{query}/releases", {"query": "visits"}, {"epsilon": 0.05}, "ann"),
    ("get", "/api/v1/releases", {}, None, "olga"),
    ("get", "/api/v1/audit/events", {}, None, "olga"),
]


@pytest.mark.parametrize(("verb", "path", "named", "body", "by"), CALLS)
def test_bodies_and_answers_are_what_the_document_says(
    world: World, verb: str, path: str, named: dict[str, str], body: Any, by: str
) -> None:
    described = document()["paths"][path][verb]
    if body is not None:
        valid(described["requestBody"]["content"]["application/json"]["schema"], body)
    response = world.call(verb.upper(), path.format(**named), body, by=by)
    answer = described["responses"][str(response.status_code)]
    valid(answer["content"]["application/json"]["schema"], json.loads(response.data))
    refusal = world.call(verb.upper(), path.format(**named) + "?surprise=1", body, by=by)
    answer = described["responses"][str(refusal.status_code)]
    valid(answer["content"]["application/problem+json"]["schema"], json.loads(refusal.data))


def test_exposure_is_what_the_document_says(world: World) -> None:
    answer = world.answer("GET", "/api/v1/audit/exposure?users=ann,noa", by="olga")
    valid({"$ref": "#/components/schemas/Exposure"}, answer)


def test_an_answer_that_is_not_what_the_document_says_is_found() -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid({"$ref": "#/components/schemas/Tier"}, {"name": "public", "rank": "high"})


def test_every_part_of_a_body_stands_in_the_document_as_it_is_read() -> None:
    """No part of an answer stands there under the name of one of a body."""
    schemas = document()["components"]["schemas"]
    for operation in OPERATIONS:
        parts = operation.body.json_schema().get("$defs", {}) if operation.body else {}
        for name, part in parts.items():
            assert part.get("properties", {}).keys() == schemas[name].get("properties", {}).keys()
            assert part.get("required", []) == schemas[name].get("required", [])


def test_every_field_that_a_body_needs_says_what_to_enter() -> None:
    """What is missing is answered with an example, whichever the body."""
    bodies = [operation.body.json_schema() for operation in OPERATIONS if operation.body]
    models = [part for body in bodies for part in (body, *body.get("$defs", {}).values())]
    needed = {field for model in models for field in model.get("required", [])}
    assert len(needed) >= 20
    assert needed <= {name.rpartition("/")[2] for name in TO_ENTER}
