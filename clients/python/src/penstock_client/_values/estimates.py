"""Hold what is estimated from the values of a release for moments, a regression or quantiles."""

from dataclasses import dataclass
from typing import Self

from penstock_client._http.fields import Fields, Key


@dataclass(frozen=True)
class Estimate:
    """Hold a statistic of the group ``key``, with its interval at the release's confidence.

    ``name`` is such as ``mean:age``, ``coefficient:age`` or ``quantile:0.5``; ``key`` is None
    without groups.  Of the names ``minimum`` and ``maximum`` the interval has one end at a bound,
    since noise hides a few rows, and there is no ``standard_deviation``.  ``interval`` is
    ``noise`` if it is about the rows in the data, and ``population`` if about what they are a
    sample of.  The numbers are None where the noise of the level is too large for any, or too few
    units are a sample.
    """

    name: str
    key: Key | None
    value: float | None
    lower: float | None
    upper: float | None
    standard_deviation: float | None
    interval: str

    @classmethod
    def read_all(cls, fields: Fields) -> tuple[Self, ...]:
        """Return the estimates of a release; none from a server that has none."""
        if fields.whole.get("estimates") is None:
            return ()
        return tuple(
            cls(
                each.text("name"),
                each.key_or_none("key"),
                each.number_or_none("value"),
                each.number_or_none("lower"),
                each.number_or_none("upper"),
                each.number_or_none("standard_deviation"),
                each.text("interval"),
            )
            for each in fields.children("estimates")
        )


@dataclass(frozen=True)
class Distribution:
    """Hold the distribution function of the group ``key``: the share of rows below each edge.

    ``lower`` and ``upper`` are the ends of a pointwise band, at the release's confidence.  All
    three never fall.  They are None where the noise of the level is too large for any; ``key`` is
    None without groups.
    """

    key: Key | None
    edges: tuple[float, ...]
    shares: tuple[float, ...] | None
    lower: tuple[float, ...] | None
    upper: tuple[float, ...] | None

    @classmethod
    def read_all(cls, fields: Fields) -> tuple[Self, ...]:
        """Return the distribution functions of a release; none of one that is not for quantiles."""
        if fields.whole.get("distributions") is None:
            return ()
        edges = fields.child("quantiles").vector("edges")[1:]
        return tuple(
            cls(each.key_or_none("key"), edges, *(_shares(each, name) for name in _PARTS))
            for each in fields.children("distributions")
        )


_PARTS = ("shares", "lower", "upper")


def _shares(fields: Fields, name: str) -> tuple[float, ...] | None:
    return None if fields.whole.get(name) is None else fields.vector(name)
