"""Describe users, as callers send them."""

from penstock.services.schemas.people.roles import Roles
from penstock.spec_fields import Name, Spec


class UserSpec(Spec):
    """Represent a user to create."""

    name: Name
    roles: Roles
    clearance: Name | None = None


class UserChange(Spec):
    """Represent a change of a user; an omitted field stays as it is."""

    roles: Roles | None = None
    clearance: Name | None = None
