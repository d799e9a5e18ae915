"""Charge budgets that take only Gaussian releases, in squares of mu, which add up.

The rule of this module: a release is charged the mu of a real Gaussian release of which it
is post-processing, and never that of its own variance.

*One draw.*  Let ``D(c, s)`` be the discrete Gaussian on the integers, of probabilities in
proportion to ``exp(-(x - c)^2 / (2 s^2))`` for any real center ``c``.  Poisson summation gives
its normalizer as ``s sqrt(2 pi) (1 + e)`` with ``|e| <= theta(s) = 2 sum_k exp(-2 pi^2 k^2 s^2)``,
whatever ``c`` is.  Draw ``Y`` from the real ``N(c, v - s^2)`` and then ``X`` from ``D(Y, s)``.
Up to the factor ``1 / (1 + e)``, which depends on ``Y``, the second law is a normal density at
the integers; so ``P(X = x)`` lies within ``1 / (1 + theta(s))`` and ``1 / (1 - theta(s))`` times
the density of ``N(c, v)`` at ``x``, and the probability of ``x`` under ``D(c, sqrt(v))`` does as
well, since ``theta`` falls.  The two laws differ by at most ``log((1 + theta) / (1 - theta))``
in log-probability.  Hence a discrete Gaussian release of variance ``v``, in squared steps, is
that close to a randomized reading of a real one of variance ``v - s^2``, whatever its center:
``mu``-GDP for ``mu^2 = Delta2^2 / (v - s^2)`` (Dong, Roth, Su 2022), except for a probability.

*A path.*  Releases at further levels are increments and bridges, discrete Gaussians too.  Their
joint law is that in which the noisier ones are drawn from the most accurate one, except for the
normalizers of as many draws; each is within the same factor.  The factors of all draws of a query
together are bounded by a total variation, which is charged like a sampler's error.

*A refinement.*  Given a release of variance ``b``, one of variance ``a < b`` is ``D`` around a
center that moves by ``1 - a/b`` times what the data move, of variance ``a (b - a) / b``.  For
real noise its ``mu^2`` would be the difference of the two.

*Sums.*  Releases that are chosen one after another, each depending on what was seen before, are
together ``mu``-GDP as long as the squares of their own mu add up to at most ``mu^2``, whatever is
chosen (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023).  Proof: for weights ``p, q`` let
``h(p, q; b)`` be the most that a test gains, ``p`` times its power less ``q`` times its level, on a
normal shift of square ``b``.  It is convex, homogeneous, grows with ``b``, and bounds what can
still be gained if ``b`` is left: a next release of square ``m`` and outcomes ``o`` leads to ``sum_o
h(p P(o), q Q(o); b - m)``, which no post-processing of ``(P, Q)`` makes larger.  A ``sqrt(m)``-GDP
pair is post-processing of a normal one (Blackwell 1953), for which the sum is ``h(p, q; b)``.  At
``p = 1, q = e^epsilon`` that is delta.
"""

import math
from bisect import bisect_left
from fractions import Fraction
from typing import Final, cast

from penstock.accounting.charging.budget import LARGEST_EXPONENT, SQUARES, Account, account_of
from penstock.accounting.charging.ledger import LOSS_UNITS, entry, share_of
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.lattice import rounded_up
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Cost
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity

SMOOTHING: Final = 4
"""The ``s`` of the proof, in steps of the lattice.

It costs the part ``(s/sigma)^2`` of a variance, below 2^-12 at the narrowest draw that the
sampler makes and 2^-24 at the levels of a planned query; ``theta`` is below 1e-136.
"""

_SLACK: Final = 1e-12
"""Relative slack for the error of the exponential."""


def gaussian_account_of(epsilon: float, delta: float) -> Account:
    """Return the account of squared mu of a budget, to be opened before anything is drawn.

    Raises ``InvalidInput`` if either number is out of range, and at a delta of 0, which no
    Gaussian release keeps.
    """
    return account_of(epsilon, delta, SQUARES)


def gaussian_charge(
    mechanism: Mechanism,
    ladder: Ladder,
    level: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
) -> Cost:
    """Price a query of ``dimension`` values and up to ``level_count`` levels: mu squared.

    Its failure probability is the sum of the sampler's (by probability, the only way that bounds
    more than Rényi losses), what falls beyond the neighbor's sampler, and the lattice's part.
    Raises ``InvalidInput`` for noise that is not Gaussian, or narrower than twice ``SMOOTHING``
    steps.
    """
    gaussian = _gaussian(mechanism)
    loss = sensitivity.l2_squared / _smoothed(gaussian, level)
    return _priced(
        gaussian,
        ladder,
        level,
        sensitivity=sensitivity,
        account=account,
        dimension=dimension,
        level_count=level_count,
        loss=loss,
    )


def gaussian_refinement(
    mechanism: Mechanism,
    ladder: Ladder,
    *,
    old: Fraction,
    new: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
) -> Cost:
    """Price what a recipient of ``old`` learns in addition from ``new``, a smaller variance.

    Choices in between may depend on what was seen.  Raises ``InvalidInput`` as ``gaussian_charge``
    does, and if the levels are too close to each other.
    """
    gaussian = _gaussian(mechanism)
    if not new < old:
        raise InvalidInput(
            f"A refinement has less noise: {float(new):g} is not a smaller variance than"
            f" {float(old):g}."
        )
    revealed = 1 - new / old
    loss = sensitivity.l2_squared * revealed**2 / _smoothed(gaussian, new * revealed)
    return _priced(
        gaussian,
        ladder,
        new,
        sensitivity=sensitivity,
        account=account,
        dimension=dimension,
        level_count=level_count,
        loss=loss,
    )


def gaussian_level_for_share(
    share: float | Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
    step: Fraction,
    bound: Fraction,
) -> Fraction:
    """Return the least variance whose charge is within ``share`` of the account's limits.

    The share is of both limits, that of losses and that of failures. The variance is read on the
    lattice that ``Gaussian.plan`` chooses for it. Raises ``InvalidInput`` for a share outside (0,
    1], and if the sampler's error alone is more than the share.
    """
    if not 0 < share <= 1:
        raise InvalidInput(
            f"A share must be above 0 and at most 1, not {float(share):g}; for example 0.1.",
            pointer="/share",
        )
    allowed = share_of(account, share)
    if not allowed.loss:
        raise InvalidInput(
            f"A share of {float(share):g} of this budget is less than the ledger can hold; ask for"
            " a larger one.",
            pointer="/share",
        )
    least = sensitivity.l2_squared * LOSS_UNITS / allowed.loss
    level = least
    while True:
        gaussian, ladder = Gaussian.plan(level, step, bound)
        cost = gaussian_charge(
            gaussian, ladder, level, sensitivity, account, dimension, level_count
        )
        made = entry(cost)
        if made.loss <= allowed.loss:
            break
        smoothed = least + (SMOOTHING * gaussian.granularity) ** 2
        level = max(smoothed, level) * (1 + Fraction(1, LOSS_UNITS))
    if made.failure > allowed.failure:
        fits = bisect_left(
            range(1, level_count + 1),
            1,
            key=lambda fewer: int(
                entry(
                    gaussian_charge(gaussian, ladder, level, sensitivity, account, dimension, fewer)
                ).failure
                > allowed.failure
            ),
        )
        raise InvalidInput(
            f"Its sampler has a failure probability of {cost.failure:.3g} at max_levels"
            f" {level_count:,}, and a share of {float(share):g} allows"
            f" {account.failure_limit * float(share):.3g};"
            + (f" ask for max_levels {fits:,} or fewer," if fits else " ask for")
            + " a smaller vector or a larger share, or open an account of Rényi losses.",
            pointer="/share",
        )
    return level


def smoothing_error(steps: float) -> float:
    """Bound by how much the two laws of the proof differ in log-probability, at ``s = steps``.

    That is ``log((1 + theta) / (1 - theta))``, with ``theta`` rounded up to a geometric series;
    infinite if theta is 1 or more.
    """
    first = math.exp(-2 * math.pi**2 * steps**2)
    theta = 2 * first / (1 - first) * (1 + _SLACK)
    return math.log1p(theta) - math.log1p(-theta) if theta < 1 else math.inf


def require_gaussian(family: type[Mechanism]) -> None:
    """Raise ``InvalidInput`` for any family of noise but the Gaussian one.

    A sparse histogram's family is one of its subclasses, for which nothing is proved here.
    """
    if family is not Gaussian:
        other = "sparse histograms" if issubclass(family, Gaussian) else f"{family.name} noise"
        raise InvalidInput(
            "A budget in squares of mu (a dataset's accountant 'gaussian') takes only gaussian"
            f" queries: no mu is proved for {other}. Choose gaussian, or register the data with"
            " the accountant 'renyi'.",
            pointer="/mechanism",
        )


def _gaussian(mechanism: Mechanism) -> Gaussian:
    require_gaussian(type(mechanism))
    return cast("Gaussian", mechanism)


def _smoothed(gaussian: Gaussian, variance: Fraction) -> Fraction:
    """Return the variance of the real release behind a lattice release of ``variance``."""
    smoothing = (SMOOTHING * gaussian.granularity) ** 2
    if variance < 4 * smoothing:
        raise InvalidInput(
            f"Noise of variance {float(variance):g} is too narrow on a lattice of steps of"
            f" {float(gaussian.granularity):g}; {float(4 * smoothing):g} is the least. Take a finer"
            " lattice, or levels further apart."
        )
    return variance - smoothing


def _priced(
    gaussian: Gaussian,
    ladder: Ladder,
    level: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
    loss: Fraction,
) -> Cost:
    """Return ``loss`` with all failures, at the largest epsilon that the account ever had."""
    epsilon = min(account.promised, LARGEST_EXPONENT)
    (way,) = gaussian.numerical_charges(ladder, dimension, level_count, math.inf, epsilon)
    beyond = gaussian.cost(level, sensitivity, math.inf).failure
    draws = dimension * (level_count + 1)
    # Each draw has two normalizers, its own and that of the draw that it stands for.
    apart = min(math.expm1(min(2 * draws * smoothing_error(SMOOTHING), 1.0)), 1.0)
    failure = beyond + way.failure + (1 + math.exp(epsilon)) * apart
    return Cost(rounded_up(loss), min(failure, 1.0))
