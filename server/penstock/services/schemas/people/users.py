"""Describe users, as callers send them."""

from typing import Annotated

from pydantic import Field

from penstock.services.schemas.people.roles import Roles
from penstock.spec_fields import Name, Spec

MOST_USERS = 500
"""The most users that one list creates."""


class UserSpec(Spec):
    """Represent a user to create."""

    name: Name
    roles: Roles
    clearance: Name | None = None


class UserChange(Spec):
    """Represent a change of a user; an omitted field stays as it is."""

    roles: Roles | None = None
    clearance: Name | None = None


class UserList(Spec):
    """Represent users to create together: all of them, or none."""

    users: Annotated[list[UserSpec], Field(min_length=1, max_length=MOST_USERS)]
    dry_run: bool = False
