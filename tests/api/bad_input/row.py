"""Define the rows of tables of bad requests: a request, and the expected answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

CODES: Mapping[int, str] = {
    400: "MALFORMED",
    401: "NOT_AUTHENTICATED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "NOT_ACCEPTABLE",
    409: "CONFLICT",
    413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: "INVALID_INPUT",
    503: "UNAVAILABLE",
}
"""The code of each status, if a row names no other."""


class Absent:
    """Stand for a field that is left out."""


@dataclass(frozen=True)
class Row:
    """Hold a request by a user (``None``: no token) that must be refused and change nothing.

    ``says`` is found in the detail; ``pointer`` is that of the first wrong place.  A
    status of 200 is for what is ignored rather than refused.
    """

    name: str
    verb: str
    path: str
    says: str
    status: int = 422
    pointer: str | None = None
    body: object = None
    data: bytes | None = None
    by: str | None = "root"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""

    @property
    def expected_code(self) -> str:
        """Return the code that is expected of the problem."""
        return self.code or CODES[self.status]


@dataclass(frozen=True)
class Flaw:
    """Hold the change that makes a valid body invalid: fields to set, or to leave out."""

    name: str
    fields: Mapping[str, Any]
    pointer: str | None
    says: str
    status: int = 422
    code: str = ""


def rows_of(
    subject: str,
    path: str,
    good: Mapping[str, Any],
    flaws: Iterable[Flaw],
    *,
    verb: str = "POST",
    by: str = "root",
) -> list[Row]:
    """Return one row for each flaw of a body that is valid without it."""
    return [
        Row(
            name=f"{subject}: {flaw.name}",
            verb=verb,
            path=path,
            says=flaw.says,
            status=flaw.status,
            pointer=flaw.pointer,
            body=spoiled(good, flaw.fields),
            by=by,
            code=flaw.code,
        )
        for flaw in flaws
    ]


def spoiled(good: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``good`` with these fields replaced."""
    body = {**good, **fields}
    return {name: value for name, value in body.items() if value is not Absent}
