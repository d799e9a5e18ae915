"""Charge a stream for one privacy unit that is in several of its steps.

The rule of this module: a stream is charged per unit and never per step.  If the noise of a stream
protects ``R x`` (``R`` its encoder, with one row for each noise value) and one step moves ``x`` in
one place, the sensitivity of a step is that of the worst column of ``R``; a unit in ``r`` steps
moves ``R x`` by a sum of ``r`` columns at most, whose norms the triangle inequality bounds by ``r``
times that.  So Laplace noise costs ``r`` times the epsilon of a step and Gaussian noise ``r^2``
times its rho, both exactly if some ``r`` columns are the same.  A structure whose columns differ
states the norms of the worst ``r`` of them itself.
"""

from fractions import Fraction

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity


def of_unit(step: Sensitivity, steps: int) -> Sensitivity:
    """Return the sensitivity to a unit in up to ``steps`` steps; ``step`` is that to one of them.

    It bounds that of every structure.  Raises ``InvalidInput`` for fewer steps than one.
    """
    if steps < 1:
        raise InvalidInput(
            f"A privacy unit is in at least 1 step of a stream, not {steps}.",
            pointer="/max_steps_per_unit",
        )
    times = Fraction(steps)
    return Sensitivity(times * step.l1, times**2 * step.l2_squared, times * step.linf)
