"""The noise processes, one a file, and releases in any order from them.

* ``process``   what every mechanism offers (the protocol)
* ``gaussian``, ``laplace``, ``poisson``, ``skellam``: the noise processes
* ``path``      anchor, placement between neighbors, raising, and all of it in memory
* ``state``     a multiple release as bytes, for its owner to seal and keep
* ``lattice``   the integers that values and noise live on

    >>> from fractions import Fraction
    >>> from penstock.mechanisms import Gaussian, MultipleRelease
    >>> mechanism, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    >>> released = MultipleRelease(mechanism, ladder, [812, 455, 1290], ceiling=100)
    >>> public, partners = released.at(40_000), released.at(2_500)
"""

from collections.abc import Mapping

from penstock.mechanisms.gaussian import Gaussian
from penstock.mechanisms.laplace import Laplace
from penstock.mechanisms.path import (
    MultipleRelease,
    draw_anchor,
    place,
    raise_anchor,
    released,
)
from penstock.mechanisms.poisson import Poisson
from penstock.mechanisms.process import IntVector, Mechanism, NumericalCharge
from penstock.mechanisms.skellam import Skellam

MECHANISMS: Mapping[str, type[Gaussian | Laplace | Poisson | Skellam]] = {
    kind.name: kind for kind in (Gaussian, Laplace, Poisson, Skellam)
}
"""Every noise process by its name."""

__all__ = [
    "MECHANISMS",
    "Gaussian",
    "IntVector",
    "Laplace",
    "Mechanism",
    "MultipleRelease",
    "NumericalCharge",
    "Poisson",
    "Skellam",
    "draw_anchor",
    "place",
    "raise_anchor",
    "released",
]
