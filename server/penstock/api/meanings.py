"""Explain every field of a body or an answer, with an example, from ``meanings.toml``."""

import functools
import json
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from penstock import examples

REFERENCE = "#/components/schemas/"
BODIES = "bodies"
PARAMETERS = "parameters"

_PLAIN = {"null": None, "boolean": True, "integer": 1, "number": 1.0, "string": ""}


def explained(schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Add to each field of named JSON schemas its meaning as ``description``, and ``examples``.

    Bodies also get a complete example.  Raises ``LookupError`` for a field that is not explained.
    """
    words = _words()
    bodies = words[BODIES] | {
        "DatasetRequest": json.loads(examples.DATASET),
        "ComputedQueryRequest": json.loads(examples.QUERY),
    }
    made = _Examples(schemas, words)
    return {name: _explained(name, schema, words, made, bodies) for name, schema in schemas.items()}


def explained_parameter(parameter: Mapping[str, Any], operation: str) -> dict[str, Any]:
    """Add an example to a parameter of an operation, and its meaning if it has none.

    Raises ``KeyError`` for a parameter that is not explained.
    """
    words, name = _words(), parameter["name"]
    of_parameters = words[PARAMETERS]
    own = of_parameters.get(f"{operation}.{name}", of_parameters.get(name, {}))
    entry = words.get(name, {}) | own
    meaning = parameter.get("description") or entry["meaning"]
    return {**parameter, "description": meaning, "example": entry["example"]}


@functools.cache
def _words() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("meanings.toml").read_text("utf-8"))


def _explained(
    name: str,
    schema: Mapping[str, Any],
    words: Mapping[str, Any],
    made: "_Examples",
    bodies: Mapping[str, Any],
) -> dict[str, Any]:
    fields = {
        field: {
            **part,
            "description": _entry(words, name, field)["meaning"],
            "examples": [made.of_field(name, field)],
        }
        for field, part in schema.get("properties", {}).items()
    }
    return {
        **schema,
        **({"properties": fields} if fields else {}),
        **({"examples": [bodies[name]]} if name in bodies else {}),
    }


def _entry(words: Mapping[str, Any], name: str, field: str) -> Any:
    entry = words.get(f"{name}.{field}", words.get(field))
    if entry is None:
        raise LookupError(f"Explain the field {field} of {name} in meanings.toml.")
    return entry


class _Examples:
    """Make an example of a schema from those of its fields, if the file has none."""

    def __init__(self, schemas: Mapping[str, Any], words: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._words = words

    def of_field(self, name: str, field: str) -> Any:
        entry = _entry(self._words, name, field)
        if "example" in entry:
            return entry["example"]
        return self._of(self._schemas[name]["properties"][field])

    def _of(self, schema: Mapping[str, Any]) -> Any:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(REFERENCE)
            return self._of_named(name)
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return self._of(choices[0])
        if schema.get("type") == "array":
            return [self._of(schema["items"])]
        if isinstance(schema.get("additionalProperties"), Mapping):
            return {"internal": self._of(schema["additionalProperties"])}
        return _PLAIN[schema["type"]]

    def _of_named(self, name: str) -> Any:
        schema = self._schemas[name]
        if "properties" not in schema:
            return schema["enum"][0]
        needed = schema.get("required", [])
        return {field: self.of_field(name, field) for field in needed}
