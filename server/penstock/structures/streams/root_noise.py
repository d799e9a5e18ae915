"""Draw the noise of the square-root factorization at every tier, step by step.

Outputs are running totals and a rounding of ``L z`` to a coarser lattice, that of the totals.
``R x`` lies on the lattice of ``z``, and ``L`` maps it to the total, exactly; so an output is a
rounding of ``L (R x + z)``, and reveals nothing that the vector ``R x + z`` does not.  That
holds for the rounding of the exact number alone, not for roundings of floats: here floats are
rounded if their error cannot change the result, and otherwise integers with enough digits.

Tiers are coupled at each node as releases are (see ``node_noise``).  The node of a step is
needed forever, so all of them are kept, and a tier that joins is bridged on all.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from operator import mul

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.multiple_release import place, raise_anchor
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.randomness.stream import Stream
from penstock.structures.streams.root_matrices import (
    OFF,
    check_root_length,
    decoder,
    exact_up_to,
    float_decoder,
)

ROWS_AT_ONCE = 1 << 21
"""Rows of ``L`` that are in memory at once."""

FIRST_BITS = 256


@dataclass
class RootNoise:
    """Hold noise in steps of ``2^coarse`` steps of the mechanism's lattice; tiers are levels.

    Levels increase, the most accurate first.  ``drawn`` has, for each, the noise of every node so
    far in steps of the mechanism's own lattice: shape (steps, dimension).
    """

    mechanism: Mechanism
    length: int
    coarse: int
    levels: list[Fraction]
    drawn: list[IntVector]

    @classmethod
    def begin(
        cls,
        mechanism: Mechanism,
        length: int,
        coarse: int,
        dimension: int,
        levels: Iterable[Fraction],
    ) -> "RootNoise":
        """Return the noise before the first output.

        Raises ``InvalidInput`` for a length that is too large, and for levels that are not
        above 0 or not different.
        """
        check_root_length(length)
        ordered = sorted(levels)
        if not ordered or len(set(ordered)) < len(ordered) or ordered[0] <= 0:
            raise InvalidInput("A stream needs at least one level; levels are above 0 and differ.")
        nothing = np.zeros((0, dimension), dtype=np.int64)
        return cls(mechanism, length, coarse, ordered, [nothing for _ in ordered])

    @property
    def step(self) -> int:
        """Return how many outputs have been given."""
        return len(self.drawn[0])

    @property
    def dimension(self) -> int:
        """Return how many numbers an output has."""
        return int(self.drawn[0].shape[1])

    def advance(self, steps: int, streams: Callable[[], Stream]) -> list[IntVector]:
        """Draw the noise of the next ``steps`` outputs: for each level, shape (steps, dimension).

        Raises ``InvalidInput`` beyond the length, before anything is drawn.
        """
        if steps < 1 or self.step + steps > self.length:
            raise InvalidInput(
                f"The stream has {self.length} steps and is at {self.step}; it cannot advance by"
                f" {steps}."
            )
        before, stream = Fraction(0), streams()
        noise = np.zeros(steps * self.dimension, dtype=np.int64)
        for number, level in enumerate(self.levels):
            noise = noise + self.mechanism.increment(before, level, noise.size, stream)
            new = noise.reshape(steps, self.dimension)
            self.drawn[number] = np.concatenate([self.drawn[number], new])
            before = level
        return rounded_outputs(self.drawn, steps, self.coarse)

    def insert(self, level: Fraction, stream: Stream) -> None:
        """Add a level, from the next output on; one that exists already stays as it is.

        A level more accurate than all others raises what the stream may lose.
        """
        if level <= 0:
            raise InvalidInput(f"A level is above 0, not {float(level):g}.")
        at = bisect_left(self.levels, level)
        if self.levels[at : at + 1] == [level]:
            return
        self.drawn.insert(at, self._bridged(level, at, stream).reshape(self.step, self.dimension))
        self.levels.insert(at, level)

    def _bridged(self, level: Fraction, at: int, stream: Stream) -> IntVector:
        points = [
            (own, drawn.reshape(-1)) for own, drawn in zip(self.levels, self.drawn, strict=True)
        ]
        if self.step == 0:
            return points[0][1]
        if at > 0:
            noisy = points[at] if at < len(points) else None
            return place(self.mechanism, points[at - 1], noisy, level, stream)
        nothing = np.zeros_like(points[0][1])
        return raise_anchor(self.mechanism, nothing, points[0], level, stream)


def rounded_outputs(noises: Sequence[IntVector], steps: int, coarse: int) -> list[IntVector]:
    """Return ``L z`` of the last ``steps`` outputs, rounded half up to multiples of ``2^coarse``.

    Each of ``noises`` is a ``z`` of all nodes, shape (all steps, dimension); results are in
    units of ``2^coarse``, shape (steps, dimension), and are roundings of the exact numbers.
    """
    given, dimension = noises[0].shape
    outputs = np.empty((len(noises), steps, dimension), dtype=np.int64)
    together = np.concatenate(noises, axis=1).astype(np.float64)
    rows = max(ROWS_AT_ONCE // given, 1)
    for start in range(0, steps, rows):
        places = range(given - steps + start, min(given - steps + start + rows, given))
        matrix = _matrix(places)
        used = together[: places.stop]
        least, most = _bounds(matrix @ used, matrix @ np.abs(used), places.stop, coarse)
        shown = least.reshape(len(places), len(noises), dimension)
        outputs[:, start : start + len(places)] = shown.transpose(1, 0, 2)
        for row, column in np.argwhere(least != most):
            level, number = divmod(int(column), dimension)
            exact = _exact(noises[level][: places[row] + 1, number], coarse)
            outputs[level, start + row, number] = exact
    return list(outputs)


def _matrix(places: range) -> NDArray[np.float64]:
    """Return the rows of ``L`` at ``places``, shape (places, places.stop): 0 above the diagonal."""
    columns = places.stop
    entries = float_decoder(columns)
    windows = sliding_window_view(np.concatenate([entries[::-1], np.zeros(columns)]), columns)
    return np.ascontiguousarray(windows[columns - 1 - np.array(places)])


def _bounds(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], terms: int, coarse: int
) -> tuple[IntVector, IntVector]:
    """Return the roundings between which the exact ones lie.

    Floats have added ``terms`` products.  Each entry, each product and each addition, in whatever
    order, is off by half a unit of its last digit at most, and so are the few operations here.
    """
    off = sizes * ((terms + 16) * 2.0**-52)
    scale = 2.0**-coarse
    least, most = (np.floor((sums + side) * scale + 0.5) for side in (-off, off))
    return least.astype(np.int64), most.astype(np.int64)


def _exact(noise: IntVector, coarse: int) -> int:
    """Return the rounding of one output whose nodes have this ``noise``, in integer arithmetic."""
    terms: list[int] = noise[::-1].tolist()
    bits = FIRST_BITS
    while True:
        entries = decoder(len(terms), bits)
        total: int = sum(starmap(mul, zip(entries, terms, strict=True)))
        # The error is 0 if an entry has no more digits than were kept.
        off = OFF * sum(map(abs, terms[exact_up_to(bits) + 1 :]))
        half = 1 << (bits + coarse - 1)
        least, most = ((total + side + half) >> (bits + coarse) for side in (-off, off))
        if least == most:
            return least
        bits *= 2
