"""Present the joint exposure of people as charts with their tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from werkzeug.datastructures import MultiDict

from penstock.services.exposure.by_query import SharedQueryView
from penstock.services.schemas.exposure import ExposureView
from penstock.web.charts import compared, intervals, path
from penstock.web.charts.drawing.values import Interval, Level
from penstock.web.charts.losses import INDEPENDENT, TOGETHER, Loss
from penstock.web.presenters.figure import Picture, picture

SHOWN = 8
"""Queries on one page, each with a picture."""

COMPOSED = "All levels received, composed"
WITH_INDEPENDENT_NOISE = "With independent noise for each release"
REACHABLE = "All they may request today"
GRANTED = "Budget of their highest tier (bound)"


@dataclass(frozen=True)
class QueryExposure:
    """Hold a query that some of the people received, with its pictures."""

    query: SharedQueryView
    pictures: tuple[Picture, ...]


def names(given: MultiDict[str, str]) -> list[str]:
    """Return the people that an address names, in ``user`` (one each) or ``users`` (by commas)."""
    typed = (name for text in given.getlist("users") for name in text.split(","))
    typed_names = (name.strip() for name in (*given.getlist("user"), *typed))
    return list(dict.fromkeys(name for name in typed_names if name))


def total(exposure: ExposureView) -> Picture:
    """Return the joint loss beside the independent one, the one in reach and the budget."""
    granted = [Loss(GRANTED, exposure.reach.epsilon)] if exposure.reach else []
    content = compared.Losses(
        "Joint privacy loss of these people",
        Loss(TOGETHER, bounded(exposure.released.epsilon)),
        (
            Loss(INDEPENDENT, bounded(exposure.independent.epsilon)),
            Loss(REACHABLE, bounded(exposure.could_be.epsilon)),
            *granted,
        ),
    )
    return picture(compared.compared, compared.rows, content, "together")


def by_query(shared_queries: Sequence[SharedQueryView]) -> list[QueryExposure]:
    """Return one noise path for each lossless query; for others the levels and their losses."""
    return [
        QueryExposure(
            query,
            (_path(query, f"known{place}"),)
            if query.lossless
            else (_draws(query, f"drawn{place}"), _composed(query, f"known{place}")),
        )
        for place, query in enumerate(shared_queries)
    ]


def _draws(shared_query: SharedQueryView, prefix: str) -> Picture:
    """Return the margins of levels with independent noise, side by side."""
    halves = [point.error.half_width for point in shared_query.points]
    content = intervals.Groups(
        f"{shared_query.query}: margin of error of each level, and who has it",
        tuple(
            f"{', '.join(point.tiers)}: {', '.join(point.people)}" for point in shared_query.points
        ),
        (Level("error", tuple(Interval(0.0, -half, half) for half in halves)),),
        "margin of error",
        shared_query.points[0].error.confidence,
    )
    return picture(intervals.dots_with_whiskers, intervals.rows, content, prefix)


def _composed(shared_query: SharedQueryView, prefix: str) -> Picture:
    content = compared.Losses(
        f"{shared_query.query}: levels with independent noise",
        Loss(COMPOSED, bounded(shared_query.together.epsilon)),
        (Loss(WITH_INDEPENDENT_NOISE, bounded(shared_query.independent.epsilon)),),
    )
    return picture(compared.compared, compared.rows, content, prefix)


def _path(shared_query: SharedQueryView, prefix: str) -> Picture:
    together, independent = (
        bounded(shared_query.together.epsilon),
        bounded(shared_query.independent.epsilon),
    )
    points = tuple(
        path.Point(
            point.level.value,
            point.error.half_width,
            ", ".join(point.tiers),
            tuple(point.people),
        )
        for point in shared_query.points
    )
    noise = path.NoisePath(
        f"{shared_query.query}: who has which point of its noise path",
        shared_query.points[0].level.parameter,
        points,
        together,
        independent,
        shared_query.points[0].error.confidence,
    )
    return picture(path.noise_path, path.rows, noise, prefix)


def bounded(epsilon: float) -> float | None:
    """Return ``epsilon`` for a chart; None if it is infinite."""
    return epsilon if math.isfinite(epsilon) else None
