"""Provide laws of discrete Gaussian noise, and what they lose, by sums with many digits."""

from mpmath import mp, mpf

REACH = 13
"""Standard deviations beyond which terms are below 1e-36."""

Law = dict[int, mpf]


def law(deviation: mpf, center: mpf | int = 0) -> Law:
    """Return the discrete Gaussian around any real center."""
    reach, middle = int(REACH * deviation) + 3, int(mp.nint(center))
    weights = {
        x: mp.exp(-((x - center) ** 2) / (2 * deviation**2))
        for x in range(middle - reach, middle + reach + 1)
    }
    whole = mp.fsum(weights.values())
    return {x: weight / whole for x, weight in weights.items()}


def gained(one: Law, other: Law, epsilon: mpf) -> mpf:
    """Return the least delta of two laws at ``epsilon``, the worse of both orders."""
    both = one.keys() & other.keys()
    factor = mp.exp(epsilon)
    return max(
        mp.fsum(max(p[x] - factor * q[x], mpf(0)) for x in both)
        for p, q in ((one, other), (other, one))
    )


def curve(epsilon: mpf, mu: mpf) -> mpf:
    """Return delta of a normal release, with as many digits as there are."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
