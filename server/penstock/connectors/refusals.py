"""How a spec that cannot be meant is refused: by JSON pointer, in plain words.

Nothing here repeats what was sent beyond a field's own name, cut short.
"""

from pydantic import ValidationError

from penstock.errors import InvalidInput

MOST_ERRORS = 20
"""How many places one refusal names; the rest are counted."""

LONGEST_PART = 64
LONGEST_DETAIL = 300

_PLAIN_WORDS = {
    "missing": "This field is required.",
    "extra_forbidden": "This field is not known here; check its spelling, or leave it out.",
    "string_type": "This must be a string.",
    "bool_type": "This must be true or false.",
    "int_type": "This must be an integer.",
    "int_from_float": "This must be an integer.",
    "float_type": "This must be a number.",
    "finite_number": "This must be a finite number.",
    "tuple_type": "This must be a list.",
    "list_type": "This must be a list.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "none_required": "This must be left out or null.",
}


def pointer(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) of a place in a body, each part cut to 64 characters."""
    escaped = (str(part)[:LONGEST_PART].replace("~", "~0").replace("/", "~1") for part in parts)
    return "".join(f"/{part}" for part in escaped)


def invalid_input(error: ValidationError) -> InvalidInput:
    """Tell every wrong place of a request, up to 20 of them, without repeating its values.

    Parts of a location in angle or square brackets are pydantic's own marks (the branch
    of a union, the key of an object) and no part of the pointer.
    """
    found = error.errors(include_url=False, include_input=False, include_context=False)
    within = {entry["loc"][:-1] for entry in found}
    # Of a list whose first wrong entry was found, pydantic also says that it is too short.
    found = [entry for entry in found if entry["type"] != "too_short" or entry["loc"] not in within]
    places: list[tuple[str, str]] = []
    for entry in found[:MOST_ERRORS]:
        parts = [part for part in entry["loc"] if not _is_mark(part)]
        detail = _PLAIN_WORDS.get(entry["type"], entry["msg"])[:LONGEST_DETAIL]
        detail = detail.replace("Tuple", "List").replace(" after validation", "")
        places.append((pointer(*parts), detail if detail.endswith(".") else f"{detail}."))
    return refusal(places, more=len(found) - len(places))


def refusal(places: list[tuple[str, str]], more: int = 0) -> InvalidInput:
    """One error for several places, each a pointer and a sentence."""
    where, what = places[0]
    detail = f"{where}: {what}" if where else what
    others = len(places) - 1 + more
    if others:
        detail += f" ({others} more {'place is' if others == 1 else 'places are'} not valid.)"
    return InvalidInput(detail, errors=places)


def _is_mark(part: str | int) -> bool:
    return isinstance(part, str) and (part == "[key]" or (part[:1], part[-1:]) == ("<", ">"))
