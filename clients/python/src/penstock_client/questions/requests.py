"""Represent questions that were sent to the admins, and what became of them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client.models import Answer, whole


@dataclass(frozen=True)
class Comment:
    """Represent what somebody wrote about a request."""

    by: str
    text: str
    at: datetime

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the comment of a server's answer.  Raises ``ProtocolError``."""
        return cls(fields.text("by"), fields.text("comment"), fields.moment("at"))


@dataclass(frozen=True)
class Request:
    """Represent a question with its purpose; ``state`` is open, approved, declined or withdrawn.

    ``query`` names the registered query, once there is one that you see, and ``name`` is what was
    sent; ``comments`` are yours and those of the admins, with the reason of a decision.
    ``problem`` says why it can no longer be approved, if it cannot.  With the state ``answered``
    there is no ``id``: the statistic was registered already, so nothing was sent.
    """

    id: str | None
    state: str
    query: str | None
    name: str
    purpose: str | None
    requested_at: datetime | None
    comments: tuple[Comment, ...]
    answer: Answer = field(repr=False, compare=False)
    problem: str | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the request of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text_or_none("id"),
            fields.text("state"),
            fields.text_or_none("query"),
            fields.text("name"),
            fields.text_or_none("purpose"),
            fields.moment_or_none("requested_at"),
            tuple(map(Comment.read, fields.children_or_none("comments"))),
            whole(fields),
            fields.text_or_none("problem"),
        )
