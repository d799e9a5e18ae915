"""Represent people, tiers, tokens, invitations, schedules, proposals and events as plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client.models import Answer, whole


@dataclass(frozen=True)
class User:
    """Represent somebody who has an account; one who is disabled is not ``active``."""

    name: str
    roles: tuple[str, ...]
    clearance: str | None
    active: bool
    created_at: datetime
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the user of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("name"),
            fields.texts("roles"),
            fields.text_or_none("clearance"),
            fields.whole.get("active") is True,
            fields.moment("created_at"),
            whole(fields),
        )


@dataclass(frozen=True)
class Token:
    """Represent a token by its first characters; ``revoked`` is when it was, if it was."""

    prefix: str
    user: str
    scopes: tuple[str, ...]
    expires: datetime
    revoked: datetime | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the token of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("prefix"),
            fields.text("user"),
            fields.texts("scopes"),
            fields.moment("expires"),
            fields.moment_or_none("revoked"),
            whole(fields),
        )


@dataclass(frozen=True)
class IssuedToken:
    """Represent a new token.  ``token`` is the secret itself, which the server shows only here."""

    token: str = field(repr=False)
    prefix: str
    user: str
    scopes: tuple[str, ...]
    expires: datetime

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the token of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("token"),
            fields.text("prefix"),
            fields.text("user"),
            fields.texts("scopes"),
            fields.moment("expires"),
        )


@dataclass(frozen=True)
class Invitation:
    """Represent an invitation without its link; ``state`` says whether that still counts."""

    id: str
    name: str
    roles: tuple[str, ...]
    clearance: str | None
    expires: datetime
    by: str
    state: str
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the invitation of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("id"),
            fields.text("name"),
            fields.texts("roles"),
            fields.text_or_none("clearance"),
            fields.moment("expires"),
            fields.text("by"),
            fields.text("state"),
            whole(fields),
        )


@dataclass(frozen=True)
class IssuedInvitation:
    """Represent a new invitation.  ``link`` has its secret, which the server shows only here."""

    link: str = field(repr=False)
    id: str
    name: str
    expires: datetime

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the invitation of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("link"),
            fields.text("id"),
            fields.text("name"),
            fields.moment("expires"),
        )


@dataclass(frozen=True)
class Tier:
    """Represent a clearance level; a larger ``rank`` is more trusted."""

    name: str
    rank: int
    description: str

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the tier of a server's answer.  Raises ``ProtocolError``."""
        return cls(fields.text("name"), fields.integer("rank"), fields.text("description"))


@dataclass(frozen=True)
class Schedule:
    """Represent a schedule of new versions and their queries; ``reason`` is why it is off."""

    name: str
    on: bool
    next_at: datetime | None
    reason: str | None
    spec: Answer = field(repr=False)
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the schedule of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("name"),
            fields.whole.get("on") is True,
            fields.moment_or_none("next_at"),
            fields.text_or_none("reason"),
            whole(fields.child("spec")),
            whole(fields),
        )


@dataclass(frozen=True)
class Proposal:
    """Represent an act that waits for another admin; ``request`` is what would be done."""

    id: str
    act: str
    state: str
    request: Answer = field(repr=False)
    proposed_by: str
    proposed_at: datetime
    expires_at: datetime
    decided_by: str | None
    reason: str | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the proposal of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("id"),
            fields.text("act"),
            fields.text("state"),
            whole(fields.child("request")),
            fields.text("proposed_by"),
            fields.moment("proposed_at"),
            fields.moment("expires_at"),
            fields.text_or_none("decided_by"),
            fields.text_or_none("reason"),
            whole(fields),
        )


@dataclass(frozen=True)
class Event:
    """Represent a leaf of the audit log: who did what.  ``index`` is None until it is in the log.

    ``answer`` has all fields of the leaf, which depend on its ``kind``.
    """

    index: int | None
    leaf_hash: str
    kind: str
    actor: str
    at: datetime
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the event of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.integer_or_none("index"),
            fields.text("leaf_hash"),
            fields.text("kind"),
            fields.text("actor"),
            fields.moment("at"),
            whole(fields),
        )
