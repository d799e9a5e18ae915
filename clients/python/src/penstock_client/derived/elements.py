"""Compute the elements of a stream from its running totals."""

import math
from collections.abc import Callable

from penstock_client._http.fields import Fields, Key
from penstock_client._values.linear import StepNoise
from penstock_client._values.series import Series
from penstock_client._values.ways import way_of, weight_of
from penstock_client.derived.quantities import Derived, DerivedValues
from penstock_client.errors import InvalidArgument
from penstock_client.streams import RunningTotal, RunningTotals, Stream

Spread = Callable[[RunningTotal], tuple[float, float, str]]
"""Returns the deviation and half width of a total less the one before, and by which law."""


def daily(totals: RunningTotals, stream: Stream, *, confidence: float = 0.95) -> DerivedValues:
    """Return each element that ``totals`` contain: a total less the one before, by step.

    Elements of several numbers have one key each for the pair of step and place.  The noises that
    both totals share cancel: which these are follows from the structure that ``stream`` states, as
    ``Client.streams`` returns it, and from the covariance that comes with the totals.  Raises
    ``CovarianceUnknown`` for structures of another version, whose noise is not known from these.
    Raises ``InvalidArgument`` if the totals are another stream's, contain no element, or if the
    confidence is not between 0 and 1.
    """
    if totals.stream != stream.name:
        raise InvalidArgument(f"These are totals of {totals.stream!r}, not of {stream.name!r}.")
    spread = _spread(totals, stream, confidence)
    before = None
    items: dict[Key, Derived] = {}
    for item in totals:
        if before is not None or item.t == 1:
            deviation, half, law = spread(item)
            for place, value in enumerate(item.values):
                element = value - (0.0 if before is None else before.values[place])
                key: Key = item.t if len(item.values) == 1 else (item.t, place)
                ends = element - half, element + half
                items[key] = Derived(element, deviation, *ends, confidence, law)
        before = item
    if not items:
        raise InvalidArgument("One total contains no element; request the total before it as well.")
    return DerivedValues(tuple(items), tuple(items.values()))


def _spread(totals: RunningTotals, stream: Stream, confidence: float) -> Spread:
    """Return what computes the noise of elements, from the series of a stream or from its tree."""
    answer = Fields(dict(totals.answer), "totals")
    granularity = answer.positive("granularity")
    if answer.whole.get("covariance") is not None:
        series = Series.read_or_none(answer.child("covariance"), granularity)
        if series is not None:
            return lambda item: series.of_element(item.t, confidence)
    structure = Fields(dict(stream.answer), "stream").child("structure")
    way, weight = way_of(structure, stream.length), weight_of(structure)
    noise = StepNoise(totals.mechanism, granularity)

    def of_nodes(item: RunningTotal) -> tuple[float, float, str]:
        nodes, before = way(item.t), frozenset() if item.t == 1 else way(item.t - 1)
        parts = {node: deviation_of(weight(node)) for node in nodes | before}
        unit = item.error.standard_deviation / math.hypot(*(parts[node] for node in nodes))
        return noise.of_nodes([unit * parts[node] for node in nodes ^ before], confidence)

    def deviation_of(weight: int) -> float:
        return math.sqrt(weight) if totals.mechanism == "gaussian" else weight

    return of_nodes
