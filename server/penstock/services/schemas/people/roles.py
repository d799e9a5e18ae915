"""Name the roles that users have and tokens carry."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

Role = Literal["analyst", "admin", "auditor"]


def _distinct(roles: list[Role]) -> list[Role]:
    if len(set(roles)) != len(roles):
        raise PydanticCustomError("roles", "List every role once.")
    return roles


Roles = Annotated[list[Role], Field(min_length=1, max_length=3), AfterValidator(_distinct)]
