"""Refuse specs that have no meaning: by JSON pointer, in plain words.

Messages repeat nothing of the request except a field's name, shortened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from penstock.connectors.specs.empty_fields import is_empty, to_enter
from penstock.errors import InvalidInput, MalformedInput

MOST_ERRORS = 20
"""The most places that one refusal names; the rest are counted."""

LONGEST_PART = 64
FIELD = "field"
LONGEST_DETAIL = 300

_PLAIN_WORDS = {
    "missing": "A value is required here.",
    "extra_forbidden": "This field is unknown; check its spelling, or leave it out.",
    "string_type": "This must be a string.",
    "bool_type": "This must be true or false.",
    "int_type": "This must be an integer.",
    "int_from_float": "This must be an integer.",
    "int_parsing": "This must be an integer.",
    "int_parsing_size": "This must be an integer of fewer digits.",
    "float_type": "This must be a number.",
    "finite_number": "This must be a finite number.",
    "tuple_type": "This must be a list.",
    "list_type": "This must be a list.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "none_required": "This must be left out or null.",
    "literal_error": "This must be {expected}.",
    "enum": "This must be {expected}.",
    "greater_than": "This must be above {gt}.",
    "greater_than_equal": "This must be at least {ge}.",
    "less_than": "This must be below {lt}.",
    "less_than_equal": "This must be at most {le}.",
    "too_short": "This must have a length of {min_length} or more, not {actual_length}.",
    "too_long": "This must have a length of {max_length} or less.",
    "string_too_long": "This must have at most {max_length} characters.",
    "string_unicode": "This is not text: it cannot be written as UTF-8.",
}
"""Our messages for pydantic's own errors; limits that an error names are filled in."""

_OF_EMPTINESS = frozenset(
    {"too_short", "name", "column_name", "text", "number", "scalar", "list"}
    | {"string_type", "int_type", "float_type", "tuple_type", "list_type", "dict_type"}
)
"""The errors that mean only that a field is empty."""


def pointer(*parts: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a place, each part cut to 64 characters."""
    escaped = (str(part)[:LONGEST_PART].replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(f"/{part}" for part in escaped)


def invalid_input(error: ValidationError) -> InvalidInput:
    """Report every wrong place of a request, up to 20 of them, without repeating its values.

    Parts of a location in angle or square brackets are pydantic's own marks (the branch of a union,
    the key of an object) and no part of the pointer.  An error of ours that concerns several fields
    names in its context, as ``FIELD``, the one to correct.
    """
    problems = error.errors(include_url=False)
    within = {entry["loc"][:-1] for entry in problems}
    # Of a list whose first wrong entry was found, pydantic also says that it is too short.
    problems = [
        entry for entry in problems if entry["type"] != "too_short" or entry["loc"] not in within
    ]
    places: list[tuple[str, str]] = []
    for entry in problems[:MOST_ERRORS]:
        parts = [part for part in entry["loc"] if not _is_mark(part)]
        parts += entry.get("ctx", {}).get(FIELD, "").split()
        places.append((pointer(*parts), sentence(entry)))
    return refusal(places, more=len(problems) - len(places))


def checked(form: Any, content: object) -> Any:
    """Return ``content`` as ``form``, a model or a union of them.  Raises ``InvalidInput``."""
    try:
        return TypeAdapter(form).validate_python(content)
    except ValidationError as error:
        # The cause would carry the content along.
        raise invalid_input(error) from None


def sentence(entry: ErrorDetails) -> str:
    """Return our message for one of pydantic's errors, which repeats nothing of the request.

    Errors of our own validators have our message already.  For an empty field the message says what
    to enter.
    """
    if _is_of_emptiness(entry):
        names = [part for part in entry["loc"] if isinstance(part, str) and not _is_mark(part)]
        to_add = to_enter(names)
        if to_add is not None:
            return to_add
    words = _PLAIN_WORDS.get(entry["type"], entry["msg"])
    if entry["type"] in _PLAIN_WORDS:
        limits = entry.get("ctx", {}).items()
        words = words.format_map(
            {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in limits}
        )
    words = words[:LONGEST_DETAIL]
    return words if words.endswith(".") else f"{words}."


def _is_of_emptiness(entry: ErrorDetails) -> bool:
    if entry["type"] == "missing":
        return True
    wrong_kind = entry["type"] == "dict_type" and entry["input"] is not None
    return entry["type"] in _OF_EMPTINESS and not wrong_kind and is_empty(entry["input"])


def refusal(places: list[tuple[str, str]], more: int = 0) -> InvalidInput:
    """Return one error for several places, each a pointer and a sentence."""
    where, what = places[0]
    detail = f"{where}: {what}" if where else what
    others = len(places) - 1 + more
    if others:
        detail += f" ({others} more {'place is' if others == 1 else 'places are'} not valid.)"
    return InvalidInput(detail, errors=places)


@contextmanager
def within(*parts: str | int) -> Iterator[None]:
    """Prefix the pointers of refusals raised in the block with ``parts``."""
    try:
        yield
    except InvalidInput as error:
        at = pointer(*parts)
        error.errors = tuple((at + inner, detail) for inner, detail in error.errors)
        raise


class Refusals:
    """Collect the refusals of parts that are read one by one, and raise them together."""

    def __init__(self) -> None:
        self._errors: list[InvalidInput] = []

    def __enter__(self) -> None:
        """Start to read one part."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Keep the refusal of this part, if it was refused; let everything else pass."""
        if isinstance(error, MalformedInput) or not isinstance(error, InvalidInput):
            return False
        self._errors.append(error)
        return True

    def raise_all(self) -> None:
        """Raise ``InvalidInput`` of all that was refused, if anything was."""
        if not self._errors:
            return
        if len(self._errors) == 1:
            raise self._errors[0]
        places = list(dict.fromkeys(place for error in self._errors for place in error.errors))
        raise refusal(places[:MOST_ERRORS], more=max(len(places) - MOST_ERRORS, 0))


def _is_mark(part: str | int) -> bool:
    return isinstance(part, str) and (part == "[key]" or (part[:1], part[-1:]) == ("<", ">"))
