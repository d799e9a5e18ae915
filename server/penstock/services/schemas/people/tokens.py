"""Describe tokens, as callers send them."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from penstock.services.schemas.people.roles import Role
from penstock.spec_fields import Spec

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DURATION = "^([0-9]{1,9})([smhd])$"
"""The pattern of a time in text, such as ``30d``."""


def seconds(value: object) -> object:
    """Return ``"30d"``, ``"12h"``, ``"15m"``, ``"90s"`` as seconds."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(DURATION, value)
    if match is None:
        raise PydanticCustomError(
            "duration",
            'A time in text must have its unit, like "30d", "12h", "15m" or "90s"; a number, which'
            " has none, is in seconds.",
        )
    return int(match.group(1)) * _UNITS[match.group(2)]


def within(longest: int) -> AfterValidator:
    """Return a validator of a time in seconds, from 1 to that of ``longest`` days."""

    def refuse(value: int | None) -> int | None:
        if value is not None and not 1 <= value <= longest * 86_400:
            raise PydanticCustomError(
                "duration",
                "This must be at least 1 second and at most {longest} days.",
                {"longest": f"{longest:,}"},
            )
        return value

    return AfterValidator(refuse)


class TokenSpec(Spec):
    """Represent a token to issue: its lifetime (seconds, or ``"30d"``), and its roles."""

    expires_in: Annotated[
        int | None,
        BeforeValidator(
            seconds,
            json_schema_input_type=int | Annotated[str, Field(pattern=DURATION)] | None,
        ),
        within(3650),
    ] = None
    scopes: list[Role] | None = Field(default=None, min_length=1)
