"""Draw the values, the keys, or the distribution function that was released for a query."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from ..distribution import Distribution, Quantile, curve_with_band
from ..distribution import rows as quantile_rows
from ..drawing.messages import message, share_message
from ..drawing.values import Level
from ..intervals import Groups, dots_with_whiskers
from ..intervals import rows as group_rows
from ..ranked import Ranking, ranked_list
from ..ranked import rows as key_rows
from .drawings import Drawing, Names

MOST_KEYS = 200
"""Largest number of keys in a table; a download has all."""

SPARSE = "Keys with small counts are missing, and a few keys with count 0 may be listed."
"""What is said under the keys of every sparse histogram."""


@dataclass(frozen=True)
class Steps:
    """Hold a distribution function: the edges of bins, the shares below, and the ends of its band.

    ``edges`` are one more than the others have numbers.  Those are empty where the noise is too
    large for any.
    """

    edges: tuple[float, ...]
    shares: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


def label_of(key: object, labels: Mapping[str, str]) -> str:
    """Return a key as its readers see it: each part by its label, if it has one."""
    return ", ".join(parts_of(key, labels))


def parts_of(key: object, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the parts of a key as its readers see them."""
    parts = map(str, key) if isinstance(key, list | tuple) else [str(key)]
    return tuple(labels.get(part, part) for part in parts)


def by_group(
    names: Names,
    keys: tuple[str, ...],
    levels: tuple[Level, ...],
    confidence: float,
    total: int = 0,
    remark: str = "",
) -> Drawing:
    """Draw one value with its interval for each key, at each level, the most accurate first.

    ``total`` is the number of all keys if these are only the first of more.
    """
    content = Groups(names.title, keys, levels, names.unit, confidence, total)
    sentence = message(names.subject, keys, levels, total)
    return Drawing(
        partial(dots_with_whiskers, replace(content, title=sentence)),
        group_rows(content),
        sentence,
        remark,
    )


def by_rank(
    names: Names, keys: tuple[str, ...], level: Level, confidence: float, total: int
) -> Drawing:
    """Draw the largest keys of a sparse histogram, of which there are ``total``."""
    content = Ranking(names.title, keys, level, "", SPARSE, confidence, total)
    sentence = message(names.subject, keys, [level], total)
    return Drawing(
        partial(ranked_list, replace(content, title=sentence)), key_rows(content), sentence
    )


def by_share(
    names: Names, level: str, steps: Steps, quantiles: tuple[Quantile, ...], confidence: float
) -> Drawing:
    """Draw a distribution function with its quantiles; its sentence has the one nearest to half."""
    parts = (steps.edges, steps.shares, steps.lower, steps.upper, quantiles, confidence)
    content = Distribution(names.title, names.unit or "value", *parts)
    middle = min(quantiles, key=lambda each: abs(each.share - 0.5), default=None)
    if middle is None:
        return Drawing(partial(curve_with_band, content), quantile_rows(content))
    sentence = share_message(names.subject, level, middle.share, middle.interval)
    return Drawing(
        partial(curve_with_band, replace(content, title=sentence)),
        quantile_rows(content),
        sentence,
    )
