"""Represent the stored structure of a stream with buffers.

The charge is for what one unit moves in ``R x`` and by the roundings of the buffers, whose
lattice is fine enough for these to add a thousandth (``structures.streams.buffered``).  The
sampler's error is charged over all draws of the numbers that one unit moves, at every step: the
law of each depends on all elements before it.  All other numbers are drawn as without the unit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from typing_extensions import override

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.process import Mechanism
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.noise.kinds.stream_errors import buffered_errors
from penstock.services.noise.kinds.stream_shape import Noise, Shape, lattice_of_totals
from penstock.services.noise.process import Process
from penstock.services.schemas.views import ErrorView
from penstock.structures.streams.buffered import state
from penstock.structures.streams.buffered.encoder import Encoder, columns, encoder
from penstock.structures.streams.buffered.noise import LARGEST_VARIANCE, BufferedNoise
from penstock.structures.streams.buffered.sensitivity import moved_together
from penstock.structures.streams.forest import Forest


@dataclass(frozen=True)
class BufferedShape(Shape):
    """Represent buffered linear Toeplitz noise: few numbers, each of which is in use forever."""

    name = "buffered"

    @cached_property
    def matrix(self) -> Encoder:
        """Return the encoder for its length."""
        return encoder(self.length)

    @override
    def settings(self) -> dict[str, Any]:
        """Return the kind and the number of buffers."""
        return {"kind": self.kind, "buffers": len(self.matrix.exponents)}

    @override
    def buffers(self) -> tuple[list[float], list[float]]:
        """Return what each buffer counts in a step, and how much it keeps of itself."""
        return list(map(float, self.matrix.weights)), list(map(float, self.matrix.kept))

    @property
    @override
    def compared(self) -> Forest | None:
        """Return None: it is not a forest."""
        return None

    @property
    @override
    def numbers_of_a_unit(self) -> int:
        """Return the numbers that a unit moves; all others have the law that they have without."""
        return self.moved or 0

    @property
    @override
    def draws_of_a_number(self) -> int:
        """Return a draw for each step, and two for each buffer and the total if a tier joins."""
        return self.matrix.length + 2 * (len(self.matrix.exponents) + 1)

    @override
    def sensitivity(self, element: Sensitivity) -> Sensitivity:
        """Return the sensitivity of as many columns together, with the roundings of buffers."""
        return moved_together(
            self.matrix,
            element,
            self.max_steps_per_unit,
            Fraction(self.noise_step or 0),
            self.moved or 0,
            self.max_levels or 0,
        )

    def rounded(self, element: Sensitivity) -> float:
        """Return how many times the squared norm is that without roundings of buffers."""
        plain = columns(self.matrix, self.max_steps_per_unit).l2_squared * element.l2_squared
        return float(self.sensitivity(element).l2_squared / plain)

    @override
    def charged_range(self, step: Fraction, bound: Fraction) -> tuple[Fraction, Fraction]:
        """Return the step of the noises: no element is among them."""
        return Fraction(self.noise_step or 0), Fraction(0)

    @override
    def fitted(self, mechanism: type[Mechanism], ceiling: Fraction) -> Self:
        """Return the shape with the lattice of elements with noise at the ceiling."""
        return replace(self, output=lattice_of_totals(self, mechanism, ceiling))

    @override
    def is_structure(self, structure: str, settings: Mapping[str, Any]) -> bool:
        """Return True if it is buffered noise, of which there is one for a length."""
        return structure == self.name

    @override
    def begin(self, process: Process, levels: Sequence[Fraction]) -> Noise:
        """Return the noise before the first step."""
        return BufferedNoise.begin(
            _gaussian(process), self.matrix, self.coarse(process), self.dimension, levels
        )

    @override
    def restored(self, plain: bytes, process: Process) -> Noise:
        """Return the buffers and totals."""
        return state.from_bytes(plain, _gaussian(process), self.matrix, self.coarse(process))

    @override
    def stored(self, noise: Noise) -> bytes:
        """Return the buffers and totals as bytes."""
        if not isinstance(noise, BufferedNoise):
            raise TypeError("the noise of another structure was used for buffers")
        return state.to_bytes(noise)

    @override
    def errors(self, process: Process, rung: int, steps: Iterable[int]) -> Iterator[ErrorView]:
        """Yield the margin of error of all noises so far, and of the rounding."""
        return buffered_errors(self.length, self.granularity(process), process, rung, steps)

    @override
    def require_reach(self, process: Process, rung: int) -> None:
        """Raise ``InvalidInput`` if the noise of buffers would leave its range."""
        level = process.ladder.value(rung)
        most = LARGEST_VARIANCE * process.mechanism.granularity**2
        if level > most:
            raise InvalidInput(
                f"The level {float(level):g} is too noisy for buffers beside the most accurate one,"
                f" at most {float(most):g} here; give a more accurate level, or choose another"
                " structure."
            )


def _gaussian(process: Process) -> Gaussian:
    """Return the mechanism of a stream with buffers."""
    if not isinstance(process.mechanism, Gaussian):
        raise TypeError("buffers have noise that is not Gaussian")
    return process.mechanism
