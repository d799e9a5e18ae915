"""Compute quantities from released values, with intervals for what the noise may have moved.

* ``quantities``, of releases::

    total(release, keys=None)           a sum of values
    difference(release, key, minus)     one value less another
    combination(release, weights)       any weighted sum
    ratio(release, numerator, denominator, within=None)
    share(release, key, of=None)        one value, or several, of a total
    combined(releases)                  several releases of one quantity, as a single one

* ``answers``, of workloads::

    answers(release)                    its answers as values, for all of the above

* ``elements``, of streams::

    daily(totals, stream)               the elements of a stream, as differences of totals

Weights are a mapping from keys to numbers, or a pandas series.  Nothing is requested from the
server, and everything is computed from what was released: it costs no budget.
"""

from penstock_client.derived.answers import answers
from penstock_client.derived.elements import daily
from penstock_client.derived.quantities import (
    Derived,
    DerivedValues,
    combination,
    combined,
    difference,
    ratio,
    share,
    total,
)

__all__ = [
    "Derived",
    "DerivedValues",
    "answers",
    "combination",
    "combined",
    "daily",
    "difference",
    "ratio",
    "share",
    "total",
]
