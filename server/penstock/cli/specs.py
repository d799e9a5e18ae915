"""Build requests to the services from options, or read them from FILE.

FILE is JSON or TOML, ``-`` is standard input.  Messages never repeat its content.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from penstock.errors import InvalidInput, MalformedInput
from penstock.nesting import DEEPEST, flat, shallow

if TYPE_CHECKING:
    from pydantic import BaseModel

    Model = TypeVar("Model", bound=BaseModel)

STANDARD_INPUT = "-"


def built(model: "type[Model]", **fields: object) -> "Model":
    """Build ``model`` from the fields that are not None.  Raises ``InvalidInput``."""
    content = {name: value for name, value in fields.items() if value is not None}
    request: Model = checked(model, content)
    return request


def checked(form: Any, content: object) -> Any:
    """Validate ``content`` as ``form``, a model or a union of models.  Raises ``InvalidInput``."""
    from penstock.connectors.planning import refusals

    return refusals.checked(form, content)


def content_of(file: str, limit: int) -> dict[str, Any]:
    """Read the object in ``file``, of at most ``limit`` bytes.

    Raises ``click.BadParameter`` if the file cannot be read, ``MalformedInput`` if it is
    neither JSON nor TOML, ``InvalidInput`` if it is too large or is not an object.
    """
    shown = "standard input" if file == STANDARD_INPUT else file
    raw = bytes_of(file, limit)
    if len(raw) > limit:
        raise InvalidInput(
            f"{shown} is longer than {limit} bytes, the limit for a spec;"
            " PENSTOCK_QUERY_BODY_LIMIT sets this limit."
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedInput(
            f"{shown} is not UTF-8 text (byte {error.start}); a spec is JSON or TOML."
        ) from None
    if not text.strip():
        raise MalformedInput(f"{shown} is empty; a spec is JSON or TOML.")
    content = _parsed(text, shown, Path(file).suffix.lower())
    if not isinstance(content, dict):
        raise InvalidInput(f"{shown} must contain one JSON object, `{{...}}`.")
    return content


def bytes_of(file: str, limit: int) -> bytes:
    """Read ``file``, up to one byte more than ``limit``.

    Raises ``click.BadParameter`` if it cannot be read.
    """
    try:
        if file == STANDARD_INPUT:
            return sys.stdin.buffer.read(limit + 1)
        with Path(file).open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise click.BadParameter(f"{file!r} cannot be read: {reason}.", param_hint="FILE") from None


def _parsed(text: str, shown: str, suffix: str) -> object:
    try:
        shallow(text)
    except ValueError:
        raise _too_deep(shown) from None
    if suffix == ".toml":
        return _toml(text, shown)
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        if suffix == ".json" or text.lstrip().startswith("{"):
            place = f"line {error.lineno}, column {error.colno}"
            raise MalformedInput(f"{shown} is not JSON: {place}.") from None
    except ValueError:
        raise MalformedInput(f"{shown} contains a number with too many digits.") from None
    return _toml(text, shown)


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedInput(f"{name} is not a number in JSON; leave it out, or give a finite one.")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise MalformedInput("An object contains a name twice; keep one of the two.")
    return content


def _toml(text: str, shown: str) -> object:
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition(" (")[2].rstrip(")")
        raise MalformedInput(f"{shown} is neither JSON nor TOML, {place}.") from None
    except ValueError:
        raise MalformedInput(f"{shown} cannot be read as TOML.") from None
    try:
        return flat(content)
    except ValueError:
        raise _too_deep(shown) from None


def _too_deep(shown: str) -> MalformedInput:
    return MalformedInput(
        f"{shown} is nested too deep, more than {DEEPEST} levels; check that it is the right file,"
        " and that every quote and bracket is closed."
    )
