"""Require that the user types the name of what a destructive action will affect."""

from collections.abc import Mapping

from penstock.errors import InvalidInput
from penstock.spec_fields import folded

FIELD = "sure"


def require_named(given: Mapping[str, str], name: str) -> None:
    """Raise ``InvalidInput`` unless the user typed the name of the affected object.

    Case is ignored, as in all names.
    """
    typed = given.get(FIELD, "").strip()
    if folded(typed) == folded(name):
        return
    wrong = f"You typed {typed!r}, which is another name." if typed else "No name was typed."
    raise InvalidInput(f"{wrong} Type {name!r} to confirm.", pointer=f"/{FIELD}")
