"""List the questions that somebody registered or requested, and what they may still ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from penstock.services.queries.sql.own_questions import OwnQuestionView
from penstock.services.schemas.datasets import TierBudgetView
from penstock.services.schemas.requests.views import RequestView


@dataclass(frozen=True)
class OwnQuestion:
    """Hold a question: ``query`` is the registered query that it is or led to.

    ``request`` is the identifier of its request; both are null if there is none to show.
    """

    name: str
    dataset: str
    state: str
    query: str | None
    request: str | None
    at: datetime


@dataclass(frozen=True)
class Left:
    """Hold what is left for questions over a dataset; ``registers`` if the caller may register.

    ``budget`` is that of an analyst's tier, with the allowance that they may use.
    """

    registers: bool
    budget: TierBudgetView | None = None


def merged(
    registered: Sequence[OwnQuestionView], requested: Sequence[RequestView]
) -> list[OwnQuestion]:
    """Return both, the newest first."""
    questions = [
        OwnQuestion(
            view.name,
            view.dataset,
            f"registered, {view.status}",
            view.name,
            None,
            view.registered_at,
        )
        for view in registered
    ]
    questions += [
        OwnQuestion(
            view.name,
            view.dataset,
            f"requested, {view.state}",
            view.query,
            view.id,
            view.requested_at,
        )
        for view in requested
        if view.requested_at is not None
    ]
    return sorted(questions, key=lambda question: question.at, reverse=True)
