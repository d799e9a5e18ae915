"""Choose the weights of the numbers of moments and regressions, from public numbers alone.

Each number is multiplied by a whole number before noise is added, and divided by it when it is
read.  A number with a larger weight has less noise, at the cost of the others: all of them share
one sensitivity.  To first order the variance of an estimate with the gradient ``g`` in the numbers
is proportional to ``sum w_i^2`` times ``sum g_i^2 / w_i^2``, so that the sum over several estimates
of their variances is least where ``w_i^4`` is proportional to the sum of their ``g_i^2`` (Cauchy,
Schwarz).  The gradients depend on the data; here they are taken in the mean over what columns may
be: independent ones, whose means are anywhere between their bounds, ``m^2`` being 1/3 in the mean
and ``m^4`` 1/5, and whose variances are ``(1 - m^2) / 3``.

- Moments are weighted for variances and covariances, each in units of its variance under equal
  weights.  So are correlations, which are made of both.
- Regressions are weighted for coefficients; each slope has a square of ``1 / (3 p)`` in the mean,
  ``p`` being the number of predictors.  Coefficients do not depend on the square of the outcome,
  which the residuals have: its weight is the least that keeps it useful, a quarter of the largest.
- Moments of order 1 have equal weights, which are nearly the best for means.

Generalized Gaussian noise has equal weights too: its noise is that of the number that moves
furthest, so that others gain nothing by moving less.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from penstock.connectors.planning.plan import labels_of, pairs
from penstock.connectors.planning.refusals import refusal
from penstock.connectors.specs.moments import EQUAL, Moments, Regression, order_of

FINEST: Final = 8
"""The largest weight that is chosen: others are whole parts of it."""

_OF_RESIDUALS: Final = 2
_SQUARE, _FOURTH = Fraction(1, 3), Fraction(1, 5)
_EQUALLY_NOISY: Final = "generalized_gaussian"


def columns_of(aggregate: Moments | Regression) -> tuple[str, ...]:
    """Return the names of the columns in the order of the answer; an outcome is the last."""
    if isinstance(aggregate, Moments):
        return aggregate.columns
    return (*aggregate.predictors, aggregate.outcome)


def weighted(aggregate: Moments | Regression, mechanism: str) -> Moments | Regression:
    """Return an aggregate with the weights that are chosen for it, if it has none of its own."""
    order = order_of(aggregate)
    if aggregate.weights is not None or order == 1 or mechanism.startswith(_EQUALLY_NOISY):
        return aggregate
    names = columns_of(aggregate)
    of = _of_coefficients if isinstance(aggregate, Regression) else _of_spreads
    chosen = _reduced(of(len(names)))
    labels = labels_of(names, order)
    return aggregate.model_copy(update={"weights": dict(zip(labels, chosen, strict=True))})


def weights_of(aggregate: Moments | Regression) -> tuple[int, ...]:
    """Return the weights in the order of the numbers, without a common factor; none of equal ones.

    Raises ``InvalidInput`` for others than one for each number.
    """
    own = aggregate.weights
    if own is None or own == EQUAL:
        return ()
    labels = labels_of(columns_of(aggregate), order_of(aggregate))
    missing = [label for label in labels if label not in own]
    unknown = sorted(set(own) - set(labels))
    if missing or unknown:
        problem = f"{unknown[0]} is none of them" if unknown else f"{missing[0]} has none"
        raise refusal(
            [
                (
                    "/aggregate/weights",
                    f"Each of the numbers {', '.join(labels)} has a weight; {problem}.",
                )
            ]
        )
    reduced = _reduced([own[label] for label in labels])
    return () if set(reduced) == {1} else reduced


def _of_spreads(columns: int) -> list[int]:
    """Return the weights for variances and covariances.

    A variance has the gradient ``m^2 - v, -2 m, 1`` in the count, the sum and the square, a
    covariance ``m m', -m', -m, 1`` in the count, both sums and the product, divided by the count.
    """
    count = (16 * _FOURTH - 8 * _SQUARE + 1) / 9
    of_variance = [count, 4 * _SQUARE, Fraction(1)]
    of_covariance = [_SQUARE**2, _SQUARE, Fraction(1)]
    variance, covariance = sum(of_variance), sum(of_covariance) + _SQUARE
    others, couples = columns - 1, math.comb(columns, 2)
    shares = {
        "count": columns * of_variance[0] / variance + couples * of_covariance[0] / covariance,
        "sum": of_variance[1] / variance + others * of_covariance[1] / covariance,
        "square": of_variance[2] / variance,
        "product": of_covariance[2] / covariance,
    }
    return _weights(
        [
            shares["square" if i == j and i else "product" if i else "sum" if j else "count"]
            for i, j in pairs(columns)
        ]
    )


def _of_coefficients(columns: int) -> list[int]:
    """Return the weights for the coefficients of ``columns - 1`` predictors; the last is the
    outcome.

    The coefficient of ``q`` has, but for a factor, the gradient of ``sum (x_q - m_q) (y - a - sum
    b_j x_j)``: in the sum of the outcome ``-m_q`` and in its product with ``q`` 1, in the count
    ``m_q a``, in the sum of ``q`` ``m_q b_q - a`` and in those of others ``m_q b_j``, in the square
    of ``q`` ``-b_q`` and in its products with others ``-b_j``; where ``a = m_y - sum b_j m_j``.
    """
    predictors = columns - 1
    slope = _SQUARE / predictors
    others = (predictors - 1) * slope
    own_sum = _SQUARE * (1 + 4 * slope + others)
    shares = []
    for i, j in pairs(columns):
        if j == columns:
            share = predictors * _SQUARE if i == 0 else Fraction(i < columns)
        elif (i, j) == (0, 0):
            share = predictors * (_SQUARE**2 + slope * _FOURTH + others * _SQUARE**2)
        elif i == 0:
            share = own_sum + others * _SQUARE
        else:
            # A product of two predictors is in the coefficients of both.
            share = slope if i == j else 2 * slope
        shares.append(share)
    return [*_weights(shares)[:-1], _OF_RESIDUALS]


def _weights(shares: Sequence[Fraction]) -> list[int]:
    """Return the whole numbers nearest to the fourth roots of shares, the largest being FINEST."""
    largest = max(shares)
    return [
        next(w for w in range(1, FINEST + 1) if share < largest * _middle(w)) for share in shares
    ]


def _middle(weight: int) -> Fraction:
    """Return the fourth power of the middle between a weight and the next one, in FINESTs."""
    return Fraction(2 * weight + 1, 2 * FINEST) ** 4


def _reduced(weights: Sequence[int]) -> tuple[int, ...]:
    common = math.gcd(*weights)
    return tuple(weight // common for weight in weights)
