"""Compute the noise of a stream's elements, each of which is a total less the one before.

The noises that both totals share cancel: which these are follows from the structure that the stream
states, and from the covariance that comes with its totals.
"""

import math
from collections.abc import Callable

from penstock_client._http.fields import Fields
from penstock_client._values.linear import StepNoise
from penstock_client._values.series import Series
from penstock_client._values.ways import way_of, weight_of

Spread = Callable[[int, float], tuple[float, float, str]]
"""Returns the standard deviation and half width of an element, and by which law.

It takes the element's step, and the standard deviation of the total after it.
"""


def spread_of(
    mechanism: str, totals: Fields, stream: Fields, length: int | None, confidence: float
) -> Spread:
    """Return what computes the noise of elements, from the answers of totals and of their stream.

    ``mechanism`` and ``length`` are those of the stream, the latter ``None`` without an end.
    Raises ``CovarianceUnknown`` for a structure whose noise is not known from these.  What it
    returns raises ``InvalidArgument`` for a confidence outside (0, 1), and for a mechanism whose
    law is not known.
    """
    granularity = totals.positive("granularity")
    if totals.whole.get("covariance") is not None:
        series = Series.read_or_none(totals.child("covariance"), granularity)
        if series is not None:
            return lambda step, _: series.of_element(step, confidence)
    structure = stream.child("structure")
    way, weight = way_of(structure, length), weight_of(structure)
    noise = StepNoise(mechanism, granularity)

    def of_nodes(step: int, deviation: float) -> tuple[float, float, str]:
        nodes, before = way(step), frozenset() if step == 1 else way(step - 1)
        parts = {node: deviation_of(weight(node)) for node in nodes | before}
        unit = deviation / math.hypot(*(parts[node] for node in nodes))
        return noise.of_nodes([unit * parts[node] for node in nodes ^ before], confidence)

    def deviation_of(weight: int) -> float:
        return math.sqrt(weight) if mechanism == "gaussian" else weight

    return of_nodes
