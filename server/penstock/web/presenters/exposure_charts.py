"""What some people know together, as charts and their tables take it."""

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
"""Queries of a page, each with a picture."""

COMPOSED = "All levels that they hold, composed"
COUNTED_ANEW = "Every hand-out counted anew"
REACHABLE = "All that they could fetch by now"
GRANTED = "The budget that they never get beyond"


@dataclass(frozen=True)
class Shown:
    """A query that some of the people hold, and the pictures of it."""

    query: SharedQueryView
    pictures: tuple[Picture, ...]


def names(given: MultiDict[str, str]) -> list[str]:
    """The people that an address names: one each, or several with commas between."""
    typed = (name for text in given.getlist("users") for name in text.split(","))
    typed_names = (name.strip() for name in (*given.getlist("user"), *typed))
    return list(dict.fromkeys(name for name in typed_names if name))


def total(exposure: ExposureView) -> Picture:
    """The loss of all together beside what it would be, could be, and may be at most."""
    granted = [Loss(GRANTED, exposure.reach.epsilon)] if exposure.reach else []
    content = compared.Losses(
        "Privacy loss of all of these people together",
        Loss(TOGETHER, bounded(exposure.released.epsilon)),
        (
            Loss(INDEPENDENT, bounded(exposure.independent.epsilon)),
            Loss(REACHABLE, bounded(exposure.could_be.epsilon)),
            *granted,
        ),
    )
    return picture(compared.compared, compared.rows, content, "together")


def by_query(shared_queries: Sequence[SharedQueryView]) -> list[Shown]:
    """Of each query one path of noise where there is one; elsewhere its draws, and the losses."""
    return [
        Shown(
            query,
            (_path(query, f"known{place}"),)
            if query.lossless
            else (_draws(query, f"drawn{place}"), _composed(query, f"known{place}")),
        )
        for place, query in enumerate(shared_queries)
    ]


def _draws(shared_query: SharedQueryView, prefix: str) -> Picture:
    """Levels that are draws of their own, side by side and joined by nothing."""
    halves = [point.error.half_width for point in shared_query.points]
    content = intervals.Groups(
        f"{shared_query.query}: how far off each draw may be, and who has it",
        tuple(
            f"{', '.join(point.tiers)}: {', '.join(point.people)}" for point in shared_query.points
        ),
        (Level("error", tuple(Interval(0.0, -half, half) for half in halves)),),
        "how far off",
        shared_query.points[0].error.confidence,
    )
    return picture(intervals.bars_with_intervals, intervals.rows, content, prefix)


def _composed(shared_query: SharedQueryView, prefix: str) -> Picture:
    content = compared.Losses(
        f"{shared_query.query}: levels that were drawn independently",
        Loss(COMPOSED, bounded(shared_query.together.epsilon)),
        (Loss(COUNTED_ANEW, bounded(shared_query.independent.epsilon)),),
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
        f"{shared_query.query}: who stands where on its path of noise",
        shared_query.points[0].level.parameter,
        points,
        together,
        independent,
        shared_query.points[0].error.confidence,
    )
    return picture(path.noise_path, path.rows, noise, prefix)


def bounded(epsilon: float) -> float | None:
    """An epsilon as charts take it; none where no epsilon is enough."""
    return epsilon if math.isfinite(epsilon) else None
