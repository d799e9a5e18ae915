"""What somebody is told of a request before they make it."""

from dataclasses import dataclass

from penstock.services.schemas.histogram_answers import HistogramView
from penstock.services.schemas.views import ErrorView, GuaranteeView, LevelView


@dataclass(frozen=True)
class ForeseenView:
    """What a request would hand out, before it is made.

    ``held`` says that the caller has these very numbers, ``better_held`` that they have more
    accurate ones of the same query, to which these then add nothing where the query is
    ``lossless``.
    """

    query: str
    dataset: str
    tier: str
    mechanism: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    histogram: HistogramView | None
    lossless: bool
    held: bool
    better_held: bool
