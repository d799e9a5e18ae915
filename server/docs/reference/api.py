"""Describe the API from its OpenAPI document: every operation with an example and a form."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from docs.reference.markdown import block, code, plain, table
from penstock.api.meanings import REFERENCE
from penstock.api.openapi import document

FOLDER = "reference/api"
JSON = "application/json"
SCRIPT = "---\nscript: try.js\n---\n"


def pages() -> dict[str, str]:
    """Return all pages of the API, by their places in the site's sources."""
    described = document()
    operations = [
        {"verb": verb.upper(), "path": path, **operation}
        for path, verbs in described["paths"].items()
        for verb, operation in verbs.items()
    ]
    schemas = described["components"]["schemas"]
    pages = {
        f"{FOLDER}/index.md": _index(described, operations),
        f"{FOLDER}/schemas.md": _schemas(schemas),
    }
    for tag in described["tags"]:
        own = [operation for operation in operations if tag["name"] in operation["tags"]]
        pages[f"{FOLDER}/{tag['name']}.md"] = _subject(tag, own, schemas)
    return pages


def _index(described: Mapping[str, Any], operations: list[dict[str, Any]]) -> str:
    text = [
        "# API\n",
        (
            "JSON over HTTP. Send `Authorization: Bearer TOKEN`, and bodies with"
            " `Content-Type: application/json`. Refusals are problem documents (RFC 9457): `detail`"
            " says what happened, the numbers, and what to do. For programs there is"
            " `/openapi.json` (OpenAPI 3.1). The fields of all bodies and answers are on the page"
            " [Bodies and answers](schemas.md).\n"
        ),
        (
            "With a script, every operation has a form that sends its example to this server with a"
            " token of yours, and so within your own rights.\n"
        ),
    ]
    for tag in described["tags"]:
        text.append(f"## {tag['name']}\n")
        text.append(plain(tag["description"]) + "\n")
        rows = [
            (
                (
                    f"[{code(operation['verb'] + ' ' + operation['path'])}]"
                    f"({tag['name']}.md#{operation['operationId']})"
                ),
                plain(operation["summary"]),
            )
            for operation in operations
            if tag["name"] in operation["tags"]
        ]
        text.append(table(("Operation", "What it does"), rows))
    return "\n".join(text)


def _subject(
    tag: Mapping[str, Any], operations: list[dict[str, Any]], schemas: Mapping[str, Any]
) -> str:
    text = [
        SCRIPT,
        f"# API: {tag['name']}\n",
        plain(tag["description"]) + "\n",
        (
            '<p data-try hidden><label for="token">Your token, for the forms below. It stays on'
            ' this page.</label><input id="token" type="password" autocomplete="off"></p>\n'
        ),
    ]
    for operation in operations:
        text += _operation(operation, schemas)
    return "\n".join(text)


def _operation(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    name = operation["operationId"]
    yield f"## {code(operation['verb'] + ' ' + operation['path'])} {{ #{name} }}\n"
    yield f"**{plain(operation['summary'])}.** {plain(operation['description'])}\n"
    if operation["parameters"]:
        yield table(
            ("Parameter", "In", "Type", "Meaning"),
            [
                (
                    code(parameter["name"]),
                    parameter["in"],
                    _type(parameter["schema"]),
                    plain(parameter["description"])
                    + (" Required." if parameter.get("required") else ""),
                )
                for parameter in operation["parameters"]
            ],
        )
    body = _body(operation)
    if body is not None:
        yield f"Body: {_type(body)}\n"
    for status, response in operation["responses"].items():
        if status < "300":
            (schema, *_) = (content["schema"] for content in response["content"].values())
            yield f"Answer: {status}, {_type(schema)}\n"
    refused = [
        f"{status} {plain(response['description'].rstrip('.'))}"
        for status, response in operation["responses"].items()
        if status >= "300"
    ]
    yield f"Refusals: {'; '.join(refused)}.\n"
    yield "An example:\n"
    yield block("sh", curl(operation, schemas))
    yield _form(operation, schemas)


def _body(operation: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content: Mapping[str, Any] = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] | None = content.get(JSON, {}).get("schema")
    return schema


def address(operation: Mapping[str, Any]) -> str:
    """Return the path of an operation's example, with the arguments that must be there."""
    path: str = operation["path"]
    arguments: dict[str, str] = {}
    for parameter in operation["parameters"]:
        example = str(parameter.get("example", ""))
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(example, safe=""))
        elif parameter["in"] == "query" and parameter.get("required"):
            arguments[parameter["name"]] = example
    return path + ("?" + urlencode(arguments) if arguments else "")


def example_body(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str | None:
    """Return the body of an operation's example as JSON; ``None`` if it has no body."""
    schema = _body(operation)
    if schema is None:
        return None
    return json.dumps(_example(schema, schemas), indent=2, ensure_ascii=False)


def _example(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> object:
    """Return the first complete example of a schema or of the parts that it may be."""
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].removeprefix(REFERENCE)], schemas)
    if schema.get("examples"):
        return schema["examples"][0]
    for choice in schema.get("anyOf") or schema.get("oneOf") or ():
        example = _example(choice, schemas)
        if example is not None:
            return example
    return None


def curl(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return the command that sends an operation's example."""
    verb, body = operation["verb"], example_body(operation, schemas)
    lines = [f'curl -X {verb} "$PENSTOCK_URL{address(operation)}"']
    if operation.get("security") != []:
        lines.append('-H "Authorization: Bearer $PENSTOCK_TOKEN"')
    if body is not None:
        lines.append(f'-H "Content-Type: {JSON}"')
        lines.append("-d '" + body.replace("'", r"'\''") + "'")
    return " \\\n  ".join(lines)


def _form(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    name, body = operation["operationId"], example_body(operation, schemas)
    changes = "" if operation["verb"] == "GET" else " This changes the server."
    parts = [
        f'<details data-try hidden><summary>Try it</summary><form data-verb="{operation["verb"]}">',
        f'<label for="{name}-path">Path</label>',
        f'<input id="{name}-path" name="path" value="{escape(address(operation))}">',
    ]
    if body is not None:
        parts += [
            f'<label for="{name}-body">Body</label>',
            (
                f'<textarea id="{name}-body" name="body" rows="{min(body.count(chr(10)) + 1, 20)}">'
                f"{escape(body).replace(chr(10), '&#10;')}</textarea>"
            ),
        ]
    parts.append(
        f'<button type="submit">Send {operation["verb"]}</button><small>{changes}</small>'
        f'<output aria-live="polite"></output></form></details>\n'
    )
    return "".join(parts)


def _schemas(schemas: Mapping[str, Any]) -> str:
    text = ["# API: bodies and answers\n"]
    for name, schema in sorted(schemas.items()):
        text.append(f"## {name} {{ #{name} }}\n")
        if "description" in schema:
            text.append(plain(schema["description"]) + "\n")
        for example in schema.get("examples", ()):
            text += [
                "An example:\n",
                block("json", json.dumps(example, indent=2, ensure_ascii=False)),
            ]
        if "properties" not in schema:
            text.append(_type(schema, here=True) + "\n")
            continue
        rows = [
            (
                code(field),
                _type(part, here=True),
                "yes" if field in schema.get("required", ()) else "no",
                plain(part.get("description", "")),
                " ".join(code(json.dumps(example)) for example in part.get("examples", ())),
            )
            for field, part in schema["properties"].items()
        ]
        text.append(table(("Field", "Type", "Required", "Meaning", "Example"), rows))
    return "\n".join(text)


def _type(schema: Mapping[str, Any], *, here: bool = False) -> str:
    """Return a schema in words, with links to the schemas that it names."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(REFERENCE)
        return f"[{name}]({'' if here else 'schemas.md'}#{name})"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(_type(choice, here=here) for choice in choices)
    if "enum" in schema or "const" in schema:
        return " or ".join(code(f'"{value}"') for value in schema.get("enum") or [schema["const"]])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), here=here)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'], here=here)}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
