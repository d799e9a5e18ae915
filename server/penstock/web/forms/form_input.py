"""Hold what was typed into a form, and find the errors of each field.

The models of the API's bodies read forms too, so each error names its place by JSON pointer,
and each field looks up the errors at its own pointer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from werkzeug.datastructures import MultiDict

from penstock.errors import Busy, Forbidden, InvalidInput, PenstockError, TooManyRequests
from penstock.web.http.idempotent_forms import SentBefore, fresh_key

LONGEST_NUMBER = 40

_STATUSES = ((InvalidInput, 422), (Forbidden, 403), (TooManyRequests, 429), (Busy, 503))
"""HTTP status of a form that is shown again, by the kind of error; 409 for all others."""


WAIT = 2
"""The seconds until what has to wait is tried again, where the server states no number."""


@dataclass(frozen=True)
class Form:
    """Hold a form: ``given`` is what was typed, by field; ``problem`` is why it was refused."""

    given: Mapping[str, str] = field(default_factory=dict)
    problem: PenstockError | None = None
    key: str = field(default_factory=fresh_key)

    def value(self, name: str, otherwise: object = "") -> str:
        """Return what was typed into a field, or ``otherwise`` if the form did not have it."""
        return self.given.get(name, "" if otherwise is None else str(otherwise))

    def chosen(self, name: str) -> Sequence[str]:
        """Return all values chosen in a field that takes several."""
        given = self.given
        return given.getlist(name) if isinstance(given, MultiDict) else []

    def wrong(self, pointer: str, apart: Sequence[str] = ()) -> str:
        """Return the errors at ``pointer`` or below, as one text; empty if there are none.

        Errors at or below the pointers in ``apart`` are left to their own fields.
        """
        if not pointer or not isinstance(self.problem, InvalidInput):
            return ""
        details = [
            detail
            for place, detail in self.problem.errors
            if _within(place, pointer) and not any(_within(place, other) for other in apart)
        ]
        return " ".join(dict.fromkeys(details))

    def at(self, pointer: str) -> str:
        """Return the errors at exactly ``pointer``, which concern no single field below it."""
        if not isinstance(self.problem, InvalidInput):
            return ""
        details = [detail for place, detail in self.problem.errors if place == pointer]
        return " ".join(dict.fromkeys(details))

    @property
    def reasons(self) -> list[str]:
        """Return the reasons of the refusal, each once."""
        if isinstance(self.problem, InvalidInput):
            return list(dict.fromkeys(detail for _, detail in self.problem.errors))
        return [self.problem.detail] if self.problem else []

    @property
    def wait(self) -> int:
        """Return in how many seconds to try again what has to wait; 0 if it need not."""
        if not isinstance(self.problem, TooManyRequests | Busy):
            return 0
        stated = self.problem.data.get("retry_after")
        return stated if isinstance(stated, int) else WAIT

    @property
    def status(self) -> int:
        """Return the HTTP status of the page that shows the form."""
        if self.problem is None:
            return 200
        return next((code for kind, code in _STATUSES if isinstance(self.problem, kind)), 409)

    def status_for(self, *, part: bool) -> int:
        """Return the status of a page that shows the form, or of a ``part`` for the script.

        A script whose preview has to wait repeats it by itself: that is no error to anybody.
        """
        return 200 if part and self.wait else self.status


def _within(place: str, pointer: str) -> bool:
    return place == pointer or place.startswith(f"{pointer}/")


def refused(given: Mapping[str, str], problem: PenstockError) -> Form:
    """Return a form as sent, with its problem; it gets a new key if the old one was used before."""
    if isinstance(problem, SentBefore):
        return Form(given, problem)
    return replace(kept(given), problem=problem)


def kept(given: Mapping[str, str]) -> Form:
    """Return a form as sent, to be shown again without a problem; it keeps its key."""
    return Form(given, None, given.get("once", "") or fresh_key())


def number(text: str) -> float | int | str | None:
    """Return ``text`` as a number, or as text for a model to refuse; None if it is empty."""
    text = text.strip()
    if not text:
        return None
    if not text.isascii() or len(text) > LONGEST_NUMBER or "_" in text:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def scalar(text: str, kind: str) -> object:
    """Return ``text`` as a value of a column's type, or as text for a model to refuse."""
    if kind in ("integer", "number"):
        return number(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def filled(**fields: object) -> dict[str, object]:
    """Return the fields that are neither None nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "")}
