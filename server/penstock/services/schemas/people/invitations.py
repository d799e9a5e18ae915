"""Describe invitations, as callers send them and as they are answered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from penstock.services.schemas.people.tokens import DURATION, seconds, within
from penstock.services.schemas.people.users import UserSpec

USUAL_LIFE: Final = timedelta(days=7)
LONGEST_LIFE: Final = timedelta(days=30)

State = Literal["open", "accepted", "revoked", "expired"]


class InvitationSpec(UserSpec):
    """Represent an invitation: the user that it makes, and its lifetime (seconds, or ``"7d"``)."""

    expires_in: Annotated[
        int | None,
        BeforeValidator(
            seconds, json_schema_input_type=int | Annotated[str, Field(pattern=DURATION)] | None
        ),
        within(LONGEST_LIFE.days),
    ] = None


@dataclass(frozen=True)
class InvitationView:
    """Hold an invitation without its secret."""

    id: str
    name: str
    roles: list[str]
    clearance: str | None
    created_at: datetime
    expires: datetime
    by: str
    state: State


@dataclass(frozen=True)
class IssuedInvitationView:
    """Hold a new invitation; its link is shown once, and is null if the request is repeated."""

    link: Annotated[str, WithJsonSchema({"type": ["string", "null"]})]
    id: str
    name: str
    roles: list[str]
    clearance: str | None
    expires: datetime
