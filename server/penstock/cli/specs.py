"""What the services are asked for: built from options, or read from FILE.

FILE is JSON or TOML, ``-`` is standard input.  Messages never repeat what stands in it.
"""

import json
import os
import sys
import tomllib
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
    """``model`` of the fields that are not None.  Raises ``InvalidInput``."""
    given = {name: value for name, value in fields.items() if value is not None}
    made: Model = checked(model, given)
    return made


def checked(form: Any, content: object) -> Any:
    """``content`` as ``form``, a model or a union of them.  Raises ``InvalidInput``."""
    from penstock.connectors.planning import refusals

    return refusals.checked(form, content)


def content_of(file: str, limit: int) -> dict[str, Any]:
    """The object that stands in ``file``, of at most ``limit`` bytes.

    Raises ``click.BadParameter`` where it cannot be read, ``MalformedInput`` where it is
    neither JSON nor TOML, ``InvalidInput`` where it is too large or no object.
    """
    shown = "standard input" if file == STANDARD_INPUT else file
    raw = bytes_of(file, limit)
    if len(raw) > limit:
        raise InvalidInput(
            f"{shown} is longer than {limit} bytes, the most that a spec may have;"
            " PENSTOCK_QUERY_BODY_LIMIT sets this."
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
        raise InvalidInput(f"{shown} must hold one JSON object, as `{{...}}`.")
    return content


def bytes_of(file: str, limit: int) -> bytes:
    """What stands in ``file``, up to one byte more than ``limit``.

    Raises ``click.BadParameter`` where it cannot be read.
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
        raise MalformedInput(f"{shown} has a number of more digits than are read.") from None
    return _toml(text, shown)


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedInput(f"{name} is not a number in JSON; leave it out, or give a finite one.")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise MalformedInput("A name stands twice in one object; keep one of the two.")
    return content


def _toml(text: str, shown: str) -> object:
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
        f"{shown} is nested too deep, more than {DEEPEST} levels, as far as it can be read: look"
        " for a quote or a bracket that is not closed, and whether it is the file that you mean."
    )
