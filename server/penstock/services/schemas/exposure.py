"""Describe reports of exposure: what a set of people knows together."""

from dataclasses import dataclass

from penstock.services.schemas.views import ComposedView, GuaranteeView, LevelView, PrivacyBudget


@dataclass(frozen=True)
class ExposedQueryView:
    """Hold the best level of one query that a coalition holds.

    ``composed`` is that of all levels that it holds if these are independent, else null.
    """

    query: str
    level: LevelView
    guarantee: GuaranteeView
    composed: ComposedView | None = None


@dataclass(frozen=True)
class ReachView:
    """Hold the budget of the highest tier that any of some people ever held."""

    tier: str
    epsilon: float
    delta: float


@dataclass(frozen=True)
class ExposureView:
    """Hold what a set of users knows together.

    ``could_be`` is the guarantee (all that they could request); ``released`` is after the fact,
    and no bound for adaptively chosen requests; ``independent`` is what the same hand-outs would
    have cost if each had been drawn on its own.
    """

    users: list[str]
    queries: list[ExposedQueryView]
    released: PrivacyBudget
    could_be: PrivacyBudget
    independent: PrivacyBudget
    reach: ReachView | None
    registrars: ReachView | None
