"""Declare the settings of sign-in through an OpenID provider."""

from typing import Any, Final

from pydantic import Field

SECRET: Final[dict[str, Any]] = {"secret": True}
"""Marks a setting whose value is never shown, and which can be read from a file."""

ISSUER: Final[Any] = Field(
    "",
    description=(
        "The address of the OpenID provider whose tokens are accepted besides Penstock's own;"
        " none when empty."
    ),
)
AUDIENCE: Final[Any] = Field("", description="The audience of its tokens for this server.")
CLAIM: Final[Any] = Field("sub", description="The claim of its tokens that names the user.")
CLIENT_ID: Final[Any] = Field(
    "",
    description=(
        "The name under which the provider knows these pages; when empty, nobody signs in to them"
        " there."
    ),
)
CLIENT_SECRET: Final[Any] = Field(
    "",
    description="The secret of that name; empty for a public client.",
    repr=False,
    json_schema_extra=SECRET,
)
SCOPES: Final[Any] = Field(
    "openid profile", description="The scopes that a sign-in requests, with openid among them."
)
GROUPS_CLAIM: Final[Any] = Field(
    "",
    description=(
        "The claim of ID tokens with the groups that decide about roles and clearance; when empty,"
        " groups do not count."
    ),
)
CREATE_USERS: Final[Any] = Field(
    default=False,
    description="Create users when they first sign in and a group gives them a role: on or off.",
)
