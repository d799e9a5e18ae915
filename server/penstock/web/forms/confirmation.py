"""What takes away for ever is done to what is named twice: in the address, and by hand."""

from collections.abc import Mapping

from penstock.errors import InvalidInput
from penstock.spec_fields import folded

FIELD = "sure"


def require_named(given: Mapping[str, str], name: str) -> None:
    """Raise ``InvalidInput`` unless a form has the name of what it is about, typed by hand.

    Case does not count, as in all names.
    """
    typed = given.get(FIELD, "").strip()
    if folded(typed) == folded(name):
        return
    wrong = f"What was typed is {typed!r}" if typed else "Nothing was typed"
    raise InvalidInput(
        f"{wrong}, and this is about {name!r}: type that name to say that you mean it.",
        pointer=f"/{FIELD}",
    )
