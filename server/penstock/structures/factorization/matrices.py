"""Implement the factorization mechanism: a public pair of matrices around one vector of noise.

Andersson, Retschmeier, Nelson, Pagh 2025, Algorithm 2 and Lemma 5.1, after Li, Miklau, Hay,
McGregor, Rastogi 2015.  The protected vector is ``R x + z``, which any mechanism releases at any
levels in any order; applying ``L`` is post-processing.

On the lattice ``R`` has to map exact values to exact values.  So ``R`` is rounded to multiples
of ``2^-digits`` before anything else, sensitivities are those of the rounded matrix, exactly,
and ``L`` is solved for it.  The floats in ``L`` affect the error and not the privacy.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.privacy.sensitivity import Sensitivity

DIGITS = 20
"""Binary digits that are kept of the entries of ``R``."""

LARGEST_RESIDUAL = 1e-9
"""The largest error of ``L R`` allowed, over the largest entry of the requested matrix."""

LARGEST_NODE = 1 << 52
"""The largest sum of a node: sums have 63 bits, releases 52."""

FloatMatrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Factorization:
    """Hold ``y = L (R x + z)``.

    ``strategy`` is ``R`` in units of ``2^-digits``, ``decoder`` is ``L``; shapes are (nodes,
    inputs) and (outputs, nodes).  ``sensitivity`` is that of ``R x`` over neighboring ``x``, in
    units of its values.
    """

    strategy: IntMatrix
    digits: int
    decoder: FloatMatrix
    sensitivity: Sensitivity

    @property
    def lossless(self) -> bool:
        """Return True if outputs determine what was released, ``R x + z``."""
        nodes = self.decoder.shape[1]
        return bool(np.linalg.matrix_rank(self.decoder) == nodes)

    def nodes(self, exact: IntVector) -> IntVector:
        """Return ``R x`` for ``exact`` of shape ``(inputs,)``, in ``2^-digits`` of its units.

        Raises ``InvalidInput`` for another shape, and if a sum could exceed 52 bits; that is
        checked with the largest input, not the sum itself.
        """
        if exact.shape != self.strategy.shape[1:]:
            raise InvalidInput(
                f"The matrix takes {self.strategy.shape[1]} values; the shape given is"
                f" {exact.shape}."
            )
        widest = int(np.abs(self.strategy).sum(axis=1).max())
        if int(np.abs(exact).max(initial=0)) * widest > LARGEST_NODE:
            raise InvalidInput("The values are too large for sums of 52 bits. Take a coarser step.")
        return self.strategy @ exact

    def decode(self, released: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``L u`` for a release ``u`` of the nodes, in units of values.

        Its shape is ``(outputs,)``.
        """
        return self.decoder @ released

    def variances(self, node_variance: float) -> NDArray[np.float64]:
        """Return the variance of each output, if that of a node is ``node_variance``."""
        return np.asarray(np.square(self.decoder).sum(axis=1) * node_variance)


def rounded(strategy: ArrayLike, digits: int = DIGITS) -> IntMatrix:
    """Return ``R`` in units of ``2^-digits``, entries rounded to the nearest.

    Raises ``InvalidInput`` for anything that is not a matrix of finite numbers, or has an entry of
    more than 52 bits.
    """
    given = np.asarray(strategy, dtype=np.float64)
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise InvalidInput("A strategy must be a matrix of finite numbers.")
    scaled = np.rint(np.ldexp(given, digits))
    if np.abs(scaled).max() > LARGEST_NODE:
        raise InvalidInput(f"An entry has more than 52 bits at {digits} digits. Take fewer digits.")
    return scaled.astype(np.int64)


def factorization(workload: ArrayLike, strategy: ArrayLike, digits: int = DIGITS) -> Factorization:
    """Factor ``workload = L R`` for the given ``R``.

    Neighbors differ by at most 1 in one value.  ``workload`` has shape (outputs, inputs),
    ``strategy`` (nodes, inputs).  ``L`` is the least squares solution.  Raises ``InvalidInput``
    if the strategy does not span ``workload``.
    """
    target = np.asarray(workload, dtype=np.float64)
    public = rounded(strategy, digits)
    if target.ndim != 2 or target.shape[1] != public.shape[1]:
        raise InvalidInput(
            "Both matrices must have as many columns as there are values; the shapes"
            f" {target.shape} and {public.shape} differ."
        )
    decoder = _solved(target, np.ldexp(public.astype(np.float64), -digits))
    return Factorization(public, digits, decoder, column_sensitivity(public, digits))


def column_sensitivity(strategy: IntMatrix, digits: int) -> Sensitivity:
    """Return the norms of ``R``'s columns, the largest of each: exact."""
    columns = np.abs(strategy).astype(object)
    return Sensitivity(
        l1=Fraction(int(columns.sum(axis=0).max()), 1 << digits),
        l2_squared=Fraction(int((columns * columns).sum(axis=0).max()), 1 << 2 * digits),
        linf=Fraction(int(columns.max()), 1 << digits),
    )


def _solved(target: FloatMatrix, strategy: FloatMatrix) -> FloatMatrix:
    """Return ``L`` with ``L strategy = target``."""
    if _lower_triangular(strategy):
        decoder = linalg.solve_triangular(strategy.T, target.T, lower=False).T
    else:
        decoder = linalg.lstsq(strategy.T, target.T)[0].T
    solution = np.asarray(decoder, dtype=np.float64)
    if np.abs(solution @ strategy - target).max() > LARGEST_RESIDUAL * np.abs(target).max():
        raise InvalidInput(
            "The wanted sums are not combinations of the strategy's rows, so no decoder exists."
            " Add rows to the strategy."
        )
    return np.ascontiguousarray(solution)


def _lower_triangular(matrix: FloatMatrix) -> bool:
    square = matrix.shape[0] == matrix.shape[1]
    return square and bool((np.diagonal(matrix) != 0).all()) and not np.triu(matrix, 1).any()
