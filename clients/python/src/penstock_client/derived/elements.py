"""Compute the elements of a stream from its running totals."""

from penstock_client._http.fields import Fields, Key
from penstock_client._values.elements import spread_of
from penstock_client.derived.quantities import Derived, DerivedValues
from penstock_client.errors import InvalidArgument
from penstock_client.streams import RunningTotals, Stream


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
    answers = Fields(dict(totals.answer), "totals"), Fields(dict(stream.answer), "stream")
    spread = spread_of(totals.mechanism, *answers, stream.length, confidence)
    before = None
    items: dict[Key, Derived] = {}
    for item in totals:
        if before is not None or item.t == 1:
            deviation, half, law = spread(item.t, item.error.standard_deviation)
            for place, value in enumerate(item.values):
                element = value - (0.0 if before is None else before.values[place])
                key: Key = item.t if len(item.values) == 1 else (item.t, place)
                ends = element - half, element + half
                items[key] = Derived(element, deviation, *ends, confidence, law)
        before = item
    if not items:
        raise InvalidArgument("One total contains no element; request the total before it as well.")
    return DerivedValues(tuple(items), tuple(items.values()))
