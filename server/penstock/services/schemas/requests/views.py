"""Describe requests as their readers see them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from penstock.services.schemas.previews import PreviewView

RequestState = Literal["open", "approved", "declined", "withdrawn", "answered"]


@dataclass(frozen=True)
class RequestCommentView:
    """Hold a comment on a request, and who wrote it."""

    by: str
    comment: str
    at: datetime


@dataclass(frozen=True)
class AskerView:
    """Hold what one person requested, as admins see it: their tier, their purpose, their spec."""

    id: str
    user: str
    tier: str | None
    purpose: str
    spec: dict[str, Any]
    requested_at: datetime
    withdrawn: bool
    sees_query: bool


@dataclass(frozen=True)
class RequestView:
    """Hold a request as its reader may see it.

    ``query`` is the registered query that it led to, if the reader sees that.  ``askers`` are for
    admins, and so is ``registered_as``: the query that is the same statistic already.  ``preview``
    is left out of lists; ``problem`` says why there is none.  An ``answered`` request has a query
    that was registered meanwhile, and that everybody who made it sees; nothing is stored of one
    without ``id``, whose query was registered before.
    """

    id: str | None
    state: RequestState
    query: str | None
    name: str
    dataset: str
    dataset_version: int
    purpose: str
    spec: dict[str, Any]
    requested_by: str
    requested_at: datetime | None
    comments: list[RequestCommentView]
    decided_by: str | None
    decided_at: datetime | None
    askers: list[AskerView]
    registered_as: str | None
    problem: str | None
    preview: PreviewView | None
