"""What somebody typed into a form, and what is wrong with it, field by field.

Forms are read as the API's bodies are, by the same models; so a refusal names its place by
JSON pointer, and each field asks for what was said of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from werkzeug.datastructures import MultiDict

from penstock.errors import Busy, Forbidden, InvalidInput, PenstockError, TooManyRequests
from penstock.web.http.idempotent_forms import SentBefore, fresh_key

LONGEST_NUMBER = 40

_STATUSES = ((InvalidInput, 422), (Forbidden, 403), (TooManyRequests, 429), (Busy, 503))
"""Of a form that is shown again; 409 for any other reason."""


@dataclass(frozen=True)
class Form:
    """``given`` is what was typed, by the names of fields; ``problem`` why it was refused."""

    given: Mapping[str, str] = field(default_factory=dict)
    problem: PenstockError | None = None
    key: str = field(default_factory=fresh_key)

    def value(self, name: str, otherwise: object = "") -> str:
        """What stands in a field: what was typed, or what stood there before."""
        return self.given.get(name, "" if otherwise is None else str(otherwise))

    def chosen(self, name: str) -> Sequence[str]:
        """All that was chosen of a field that takes several."""
        given = self.given
        return given.getlist(name) if isinstance(given, MultiDict) else []

    def wrong(self, pointer: str, apart: Sequence[str] = ()) -> str:
        """What is wrong at ``pointer`` or below; empty where nothing is.

        What is wrong at or below the pointers of ``apart`` is left to their own fields.
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
        """What is wrong at ``pointer`` itself, of which no single field is to blame."""
        if not isinstance(self.problem, InvalidInput):
            return ""
        details = [detail for place, detail in self.problem.errors if place == pointer]
        return " ".join(dict.fromkeys(details))

    @property
    def reasons(self) -> list[str]:
        """Why it was refused, each reason once."""
        if isinstance(self.problem, InvalidInput):
            return list(dict.fromkeys(detail for _, detail in self.problem.errors))
        return [self.problem.detail] if self.problem else []

    @property
    def status(self) -> int:
        """Of the page that shows the form."""
        if self.problem is None:
            return 200
        return next((code for kind, code in _STATUSES if isinstance(self.problem, kind)), 409)


def _within(place: str, pointer: str) -> bool:
    return place == pointer or place.startswith(f"{pointer}/")


def refused(given: Mapping[str, str], problem: PenstockError) -> Form:
    """A form as it was sent, with what is wrong with it; it keeps its key while that is its own."""
    if isinstance(problem, SentBefore):
        return Form(given, problem)
    return replace(kept(given), problem=problem)


def kept(given: Mapping[str, str]) -> Form:
    """A form as it was sent, to be sent on; it keeps its key."""
    return Form(given, None, given.get("once", "") or fresh_key())


def number(text: str) -> float | int | str | None:
    """What is typed as a number, for a model to judge; none where nothing is."""
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
    """What is typed as one value of a column of a type, for a model to judge."""
    if kind in ("integer", "number"):
        return number(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def filled(**fields: object) -> dict[str, object]:
    """The fields in which something stands."""
    return {name: value for name, value in fields.items() if value not in (None, "")}
