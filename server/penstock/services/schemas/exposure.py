"""What exposure answers with: what a set of people knows together."""

from dataclasses import dataclass

from penstock.services.schemas.views import ComposedView, GuaranteeView, LevelView, PrivacyBudget


@dataclass(frozen=True)
class ExposedQueryView:
    """The best level of one query that a coalition holds.

    ``composed`` is of all levels that it holds, where these are independent; else null.
    """

    query: str
    level: LevelView
    guarantee: GuaranteeView
    composed: ComposedView | None = None


@dataclass(frozen=True)
class ReachView:
    """The budget of the highest tier that any of some people ever held."""

    tier: str
    epsilon: float
    delta: float


@dataclass(frozen=True)
class ExposureView:
    """What a set of users knows together.

    ``could_be`` is the guarantee (all that they could fetch); ``released`` is after the
    fact, and no bound for adaptively chosen requests; ``independent`` is what the same
    hand-outs would have cost had each been drawn on its own.
    """

    users: list[str]
    queries: list[ExposedQueryView]
    released: PrivacyBudget
    could_be: PrivacyBudget
    independent: PrivacyBudget
    reach: ReachView | None
    registrars: ReachView | None
