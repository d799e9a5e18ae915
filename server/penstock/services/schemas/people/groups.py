"""Describe what groups of an OpenID provider give, as callers send it."""

from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from penstock.services.schemas.people.roles import Role
from penstock.spec_fields import Name, Spec

LONGEST_GROUP = 256


def _group(value: str) -> str:
    if not 1 <= len(value) <= LONGEST_GROUP or not value.isprintable():
        raise PydanticCustomError(
            "group",
            "A group has 1 to {most} characters, and no control characters.",
            {"most": LONGEST_GROUP},
        )
    if value != value.strip():
        # In a list of mappings it would look like the group without it, and give other rights.
        raise PydanticCustomError("group", "A group does not begin or end with a space.")
    return value


def _distinct(roles: list[Role]) -> list[Role]:
    if len(set(roles)) != len(roles):
        raise PydanticCustomError("roles", "List every role once.")
    return roles


class GroupMappingSpec(Spec):
    """Represent what the members of a group are given; its name is compared exactly."""

    group: Annotated[
        str,
        AfterValidator(_group),
        WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_GROUP}),
    ]
    roles: Annotated[list[Role], Field(max_length=3), AfterValidator(_distinct)] = Field(
        default_factory=list
    )
    tier: Name | None = None
