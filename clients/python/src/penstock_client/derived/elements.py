"""Compute the elements of a stream from its running totals."""

import math

from penstock_client._http.fields import Fields, Key
from penstock_client._values.linear import StepNoise
from penstock_client._values.ways import way_of
from penstock_client.derived.quantities import Derived, DerivedValues
from penstock_client.errors import InvalidArgument
from penstock_client.streams import RunningTotals, Stream


def daily(totals: RunningTotals, stream: Stream, *, confidence: float = 0.95) -> DerivedValues:
    """Return each element that ``totals`` contain: a total less the one before, by step.

    The noises that both totals share cancel.  Which these are follows from the structure that
    ``stream`` states, as ``Client.streams`` returns it.  Raises ``CovarianceUnknown`` for streams
    whose structure does not say it: the square root, buffers, and streams without an end.  Raises
    ``InvalidArgument`` if the totals are another stream's, have several numbers each, contain no
    element, or if the confidence is not between 0 and 1.
    """
    if totals.stream != stream.name:
        raise InvalidArgument(f"These are totals of {totals.stream!r}, not of {stream.name!r}.")
    if any(len(item.values) != 1 for item in totals):
        raise InvalidArgument("Elements of several numbers cannot be computed; take each apart.")
    way = way_of(Fields(dict(stream.answer), "stream").child("structure"), stream.length)
    noise = StepNoise(
        totals.mechanism, Fields(dict(totals.answer), "totals").positive("granularity")
    )
    before = (frozenset[int](), 0.0) if totals.items[0].t == 1 else None
    items: dict[Key, Derived] = {}
    for item in totals:
        nodes, value = way(item.t), item.values[0]
        if before is not None:
            each = item.error.standard_deviation / math.sqrt(len(nodes))
            deviation, half, law = noise.of_nodes(len(nodes ^ before[0]), each, confidence)
            element = value - before[1]
            ends = element - half, element + half
            items[item.t] = Derived(element, deviation, *ends, confidence, law)
        before = nodes, value
    if not items:
        raise InvalidArgument("One total contains no element; request the total before it as well.")
    return DerivedValues(tuple(items), tuple(items.values()))
