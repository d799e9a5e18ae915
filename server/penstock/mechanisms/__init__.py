"""Draw noise at any level, in any order: the noise processes, and releases from them.

* ``process``        what every mechanism offers (the protocol)
* ``gaussian``, ``laplace``, ``poisson``, ``skellam``: the noise processes, a folder each
* ``exponential``  the same for noise that only rises, which protects little by itself
* ``generalized_gaussian``  noise with a small largest error, and no path between levels; with
  the sparse vector technique
* ``randomized_response``  answers among categories, at any levels in any order
* ``families``       one class for each power of generalized Gaussian noise, and the like
* ``multiple_release``  draw the anchor, place levels between neighbors, raise; in memory too
* ``serialization``  a multiple release as bytes, for its owner to seal and keep
* ``lattice``        the integers that values and noise live on
* ``shifts``         the worst shift of a vector
* ``loss_table``, ``loss_sums``  privacy losses as tables, and their sums
* ``rejection_charges``  what the error of rejection sampling costs

    >>> from fractions import Fraction
    >>> from penstock.mechanisms import Gaussian, MultipleRelease
    >>> mechanism, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    >>> released = MultipleRelease(mechanism, ladder, [812, 455, 1290], ceiling=100)
    >>> public, partners = released.at(40_000), released.at(2_500)
"""

from collections.abc import Mapping
from fractions import Fraction

from penstock.errors import InvalidInput
from penstock.mechanisms.exponential.process import Exponential
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector
from penstock.mechanisms.generalized_gaussian.sparse_vector_correction import SparseVectorCorrection
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.multiple_release import (
    MultipleRelease,
    draw_anchor,
    place,
    raise_anchor,
    released,
)
from penstock.mechanisms.poisson.process import Poisson
from penstock.mechanisms.process import IntVector, Mechanism, NumericalCharge
from penstock.mechanisms.randomized_response.process import RandomizedResponse
from penstock.mechanisms.skellam.process import Skellam

MECHANISMS: Mapping[str, type[Gaussian | Laplace | Poisson | Skellam]] = {
    kind.name: kind for kind in (Gaussian, Laplace, Poisson, Skellam)
}
"""Every noise process that protects what it is added to, by its name."""


def family_of(name: str, power: Fraction | None = None) -> type[Mechanism]:
    """Return the mechanism of a name; ``generalized_gaussian`` needs its power as well.

    Power 2 is the Gaussian process and power 1 the Laplace process, with features that
    other powers lack.  Raises ``InvalidInput`` for an unknown name, a power outside of 1
    to 16, a missing power, and a power for a mechanism that has none.
    """
    if name == GeneralizedGaussian.name:
        if power == 1:
            return Laplace
        return Gaussian if power == 2 else GeneralizedGaussian.of(power)
    if name not in MECHANISMS:
        known = ", ".join([*MECHANISMS, GeneralizedGaussian.name])
        raise InvalidInput(f"No mechanism is called {name!r}; there are {known}.")
    if power is not None:
        raise InvalidInput(
            f"The {name} mechanism has no power p; leave it out, or take"
            f" {GeneralizedGaussian.name}.",
            pointer="/p",
        )
    return MECHANISMS[name]


__all__ = [
    "MECHANISMS",
    "Exponential",
    "Gaussian",
    "GeneralizedGaussian",
    "IntVector",
    "Laplace",
    "Mechanism",
    "MultipleRelease",
    "NumericalCharge",
    "Poisson",
    "RandomizedResponse",
    "Skellam",
    "SparseVector",
    "SparseVectorCorrection",
    "draw_anchor",
    "family_of",
    "place",
    "raise_anchor",
    "released",
]
