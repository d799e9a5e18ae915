"""Read the query string strictly: refuse unknown, repeated, missing and wrong arguments."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from werkzeug.datastructures import MultiDict

from penstock.api.operations import Operation
from penstock.connectors.binned.quantiles import Probabilities
from penstock.connectors.planning.refusals import pointer, refusal, sentence
from penstock.services.pagination import Window

LIMIT = "limit"
CURSOR = "cursor"
WINDOW = {
    LIMIT: "The most items in the answer: 100 by default, at most 1000.",
    CURSOR: "The cursor of the next page: next_cursor of the page before.",
}


def _moment(text: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError(
        "moment", "This must be a time with its offset (RFC 3339), as 2026-11-20T12:00:00Z."
    )


def _names(text: object) -> list[str]:
    return [name for name in str(text).split(",") if name]


Moment = Annotated[
    datetime, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""A time in RFC 3339, with its offset."""

Names = Annotated[
    list[str],
    PlainValidator(_names),
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 1}),
]
"""Names separated by commas."""


def _numbers(text: object) -> list[float]:
    try:
        return [float(part) for part in str(text).split(",")]
    except ValueError:
        raise PydanticCustomError("numbers", "These must be numbers, as 0.1,0.5,0.9.") from None


Shares = Annotated[Probabilities, BeforeValidator(_numbers)]
"""Probabilities separated by commas."""


def read(
    operation: Operation, given: MultiDict[str, str], opened: Callable[[str], str]
) -> dict[str, Any]:
    """Return the handler's arguments from a query string; ``opened`` unseals a cursor.

    Raises ``InvalidInput`` for arguments that are unknown, repeated, missing or wrong.
    """
    if not given and operation.takes_no_arguments:
        return {}
    known = {parameter.name for parameter in operation.parameters}
    if operation.windowed:
        known |= WINDOW.keys()
    listed = ", ".join(sorted(known)) or "none"
    wrong = [
        (pointer(name), f"This argument is unknown here; known arguments: {listed}.")
        for name in given
        if name not in known
    ]
    wrong += [
        (pointer(name), "Give this argument only once.")
        for name in known
        if len(given.getlist(name)) > 1
    ]
    arguments: dict[str, Any] = {}
    for parameter in operation.parameters:
        text = given.get(parameter.name)
        if text is not None:
            try:
                arguments[parameter.argument] = parameter.adapter.validate_python(text)
            except ValidationError as problem:
                first = problem.errors(include_url=False)[0]
                wrong.append((pointer(parameter.name), sentence(first)))
        elif parameter.required:
            wrong.append((pointer(parameter.name), "This argument is required."))
    if wrong:
        raise refusal(wrong[:20], more=len(wrong[20:]))
    if operation.windowed:
        cursor = given.get(CURSOR)
        arguments["window"] = Window.parse(
            given.get(LIMIT), None if cursor is None else opened(cursor)
        )
    return arguments
