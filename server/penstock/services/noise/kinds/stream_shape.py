"""Represent the stored structure of a stream: a tree, the square root, or buffers.

The charge is for the sensitivity of ``R x``: that of the worst columns of ``R`` together, as many
as one unit may be in steps.  The sampler's error is
charged over the nodes that one unit contributes to, since all others have the same law under
neighbors.  Over buffers these are all draws of the numbers that one unit moves, at every step.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from typing_extensions import override

from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import LARGEST_STEPS, floor_log2
from penstock.mechanisms.process import Mechanism
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.noise.kinds.stream_errors import forest_errors, root_errors
from penstock.services.noise.process import Process
from penstock.services.schemas.views import ErrorView
from penstock.structures.streams import comparison, node_state, root_state
from penstock.structures.streams.buffered.noise import BufferedNoise
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import Forest
from penstock.structures.streams.kary import KaryTree
from penstock.structures.streams.node_noise import NodeNoise
from penstock.structures.streams.root_matrices import DIGITS, columns
from penstock.structures.streams.root_noise import RootNoise
from penstock.structures.streams.smooth_binary import SmoothBinary

HEAVIEST = 128
"""The largest weight of a node of a stream without an end, within 2^63 steps."""

Noise = NodeNoise | RootNoise | BufferedNoise


@dataclass(frozen=True)
class Shape(ABC):
    """Represent a stream's structure, and the dimension, lattice and range of its elements.

    ``kind`` is kary (with ``k`` 2 and not ``subtracting`` the binary tree), smooth_binary,
    epochs, or one that is not a forest, square_root or buffered; ``height`` and ``zeros`` belong to
    the smooth tree, ``output`` to these two: the lattice of totals, coarser than that of noises.
    ``noise_step``, a step of the latter, belongs to buffers, as do ``moved``, how many numbers
    one unit moves at most, and ``max_levels``.  Steps, ``bound`` and ``output`` are text, as
    fractions.
    """

    kind: str
    length: int | None
    dimension: int
    max_steps_per_unit: int
    step: str
    bound: str
    k: int | None = None
    subtracting: bool | None = None
    height: int | None = None
    zeros: int | None = None
    output: str | None = None
    noise_step: str | None = None
    moved: int | None = None
    max_levels: int | None = None

    def encoded(self) -> str:
        """Return the shape as stored text, which ``stream.shape_of`` reads."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps({"length": None, **known}, sort_keys=True)

    def settings(self) -> dict[str, Any]:
        """Return the structure as callers see it."""
        every = {
            "kind": self.kind,
            "k": self.k,
            "subtracting": self.subtracting,
            "height": self.height,
            "zeros": self.zeros,
        }
        return {name: value for name, value in every.items() if value is not None}

    @property
    @abstractmethod
    def compared(self) -> Forest | None:
        """Return the forest to compare with others; ``None`` for other structures."""

    @property
    @abstractmethod
    def numbers_of_a_unit(self) -> int:
        """Return the most numbers of nodes that one unit contributes to."""

    @property
    def draws_of_a_number(self) -> int:
        """Return how often each of these is drawn at one level, over the whole stream."""
        return 1

    @abstractmethod
    def sensitivity(self, element: Sensitivity) -> Sensitivity:
        """Return the sensitivity of all nodes to one unit, given that of one element."""

    @abstractmethod
    def charged_range(self, step: Fraction, bound: Fraction) -> tuple[Fraction, Fraction]:
        """Return the step and the bound that are charged for elements with this step and bound."""

    @abstractmethod
    def fitted(self, mechanism: type[Mechanism], ceiling: Fraction) -> Self:
        """Return the shape with the lattice of its totals, which depends on the ceiling.

        Raises ``InvalidInput`` if elements up to the declared bound do not fit it.
        """

    @abstractmethod
    def is_structure(self, structure: str, settings: Mapping[str, Any]) -> bool:
        """Return True if a structure of a comparison is this one."""

    @abstractmethod
    def begin(self, process: Process, levels: Sequence[Fraction]) -> Noise:
        """Return the noise before the first element."""

    @abstractmethod
    def restored(self, plain: bytes, process: Process) -> Noise:
        """Decode the noise that ``stored`` wrote.  Raises ``InvalidInput`` for another format."""

    @abstractmethod
    def stored(self, noise: Noise) -> bytes:
        """Return the noise as bytes."""

    @abstractmethod
    def errors(self, process: Process, rung: int, steps: Iterable[int]) -> Iterator[ErrorView]:
        """Yield the margin of error of the totals after each of ``steps``, of each number."""

    @property
    def past_only(self) -> bool:
        """Return True if totals are sums of nodes that count past elements alone."""
        return self.compared is None or self.compared.past_only

    def buffers(self) -> tuple[list[float], list[float]] | None:
        """Return the weights and the decays of buffers; ``None`` for other structures."""
        return None

    def granularity(self, process: Process) -> Fraction:
        """Return the lattice of running totals: that of the noises, if it is not coarser."""
        return Fraction(self.output) if self.output else process.mechanism.granularity

    def coarse(self, process: Process) -> int:
        """Return the binary logarithm of steps of the noises in one step of the totals."""
        return floor_log2(self.granularity(process) / process.mechanism.granularity)

    def scale(self, process: Process) -> int:
        """Return how many steps of the totals' lattice are in one step of the elements."""
        scale = Fraction(self.step) / self.granularity(process)
        if scale.denominator != 1:
            raise InvalidInput(f"The step {self.step} is not a multiple of the lattice's.")
        return scale.numerator

    def largest_total(self, process: Process) -> float:
        """Return the largest absolute value of a running total, in units of values."""
        return float(LARGEST_STEPS * self.granularity(process))

    def following(self, step: int) -> int | None:
        """Return the number of the element after ``step``; ``None`` if the stream is full."""
        return None if self.length is not None and step >= self.length else step + 1

    def require_reach(self, process: Process, rung: int) -> None:
        """Raise ``InvalidInput`` if the noise of the heaviest node would leave its range."""
        heaviest = HEAVIEST if self.length is None else 1
        ladder = process.ladder
        if ladder.value(rung) * heaviest > ladder.value(ladder.last):
            raise InvalidInput(
                f"The level {float(ladder.value(rung)):g} is too noisy for a stream without an"
                f" end, whose nodes have up to {HEAVIEST} times that noise; give a length, or a"
                " more accurate level."
            )


@dataclass(frozen=True)
class TreeShape(Shape):
    """Represent a tree or epochs: few nodes for each element, whose noise is dropped later."""

    @cached_property
    def forest(self) -> Forest:
        """Return the forest of a tree, or of epochs."""
        if self.kind == "smooth_binary":
            return SmoothBinary(self.length or 0, self.height or 0, self.zeros or 0)
        if self.kind == "epochs":
            return Epochs(self.k or 0, subtracting=bool(self.subtracting))
        return KaryTree(self.length or 0, self.k or 0, subtracting=bool(self.subtracting))

    @property
    @override
    def compared(self) -> Forest | None:
        """Return the forest itself."""
        return self.forest

    @property
    @override
    def numbers_of_a_unit(self) -> int:
        """Return the numbers in the nodes of a step, times the steps of the unit."""
        return self.dimension * self.forest.nodes_a_step * self.max_steps_per_unit

    @override
    def sensitivity(self, element: Sensitivity) -> Sensitivity:
        """Return the sensitivity of as many columns together."""
        return _product(self.forest.columns(self.max_steps_per_unit), element)

    @override
    def charged_range(self, step: Fraction, bound: Fraction) -> tuple[Fraction, Fraction]:
        """Return the step and bound of the elements."""
        return step, bound

    @override
    def fitted(self, mechanism: type[Mechanism], ceiling: Fraction) -> Self:
        """Return the same shape: its totals are on the lattice of its noises."""
        return self

    @override
    def is_structure(self, structure: str, settings: Mapping[str, Any]) -> bool:
        """Return True if name and settings are those of the forest."""
        return (structure, settings) == comparison.described(self.forest)

    @override
    def begin(self, process: Process, levels: Sequence[Fraction]) -> Noise:
        """Return the noise of the nodes that are in use first."""
        return NodeNoise.begin(process.mechanism, self.forest, self.dimension, levels)

    @override
    def restored(self, plain: bytes, process: Process) -> Noise:
        """Return the noise of the nodes in use."""
        return node_state.from_bytes(plain, process.mechanism, self.forest)

    @override
    def stored(self, noise: Noise) -> bytes:
        """Return the noise of the nodes in use as bytes."""
        if not isinstance(noise, NodeNoise):
            raise TypeError("the noise of another structure was used for a tree")
        return node_state.to_bytes(noise)

    @override
    def errors(self, process: Process, rung: int, steps: Iterable[int]) -> Iterator[ErrorView]:
        """Yield the margin of error of the sum of the nodes of each step."""
        return forest_errors(self.forest, process, rung, steps, endless=self.length is None)


@dataclass(frozen=True)
class RootShape(Shape):
    """Represent the square root of the matrix of ones, all of whose nodes stay in use."""

    name = "square_root"

    @property
    @override
    def compared(self) -> Forest | None:
        """Return None: it is not a forest."""
        return None

    @property
    @override
    def numbers_of_a_unit(self) -> int:
        """Return the numbers in all nodes."""
        return self.dimension * (self.length or 0)

    @override
    def sensitivity(self, element: Sensitivity) -> Sensitivity:
        """Return the sensitivity of as many columns together, which is exact."""
        return _product(columns(self.length or 0, self.max_steps_per_unit), element)

    @override
    def charged_range(self, step: Fraction, bound: Fraction) -> tuple[Fraction, Fraction]:
        """Return a finer step: ``R`` times the elements is on it, and is never stored."""
        return step / (1 << DIGITS), Fraction(0)

    @override
    def fitted(self, mechanism: type[Mechanism], ceiling: Fraction) -> Self:
        """Return the shape with the lattice of elements with noise at the ceiling."""
        return replace(self, output=lattice_of_totals(self, mechanism, ceiling))

    @override
    def is_structure(self, structure: str, settings: Mapping[str, Any]) -> bool:
        """Return True if it is the square root."""
        return structure == self.name

    @override
    def begin(self, process: Process, levels: Sequence[Fraction]) -> Noise:
        """Return the noise before the first step."""
        return RootNoise.begin(
            process.mechanism, self.length or 0, self.coarse(process), self.dimension, list(levels)
        )

    @override
    def restored(self, plain: bytes, process: Process) -> Noise:
        """Return the noise of all steps so far."""
        return root_state.from_bytes(
            plain, process.mechanism, self.length or 0, self.coarse(process)
        )

    @override
    def stored(self, noise: Noise) -> bytes:
        """Return the noise of all steps so far as bytes."""
        if not isinstance(noise, RootNoise):
            raise TypeError("the noise of another structure was used for a square root")
        return root_state.to_bytes(noise)

    @override
    def errors(self, process: Process, rung: int, steps: Iterable[int]) -> Iterator[ErrorView]:
        """Yield the margin of error of all noises so far, and of the rounding."""
        return root_errors(self.length or 0, self.granularity(process), process, rung, steps)


def lattice_of_totals(shape: Shape, mechanism: type[Mechanism], ceiling: Fraction) -> str:
    """Return the lattice of elements with noise at the ceiling, as text."""
    plain, _ = mechanism.plan(ceiling, Fraction(shape.step), Fraction(shape.bound))
    return str(plain.granularity)


def _product(column: Sensitivity, element: Sensitivity) -> Sensitivity:
    """Return how far columns of these norms move, each times an element of those norms."""
    return Sensitivity(
        l1=column.l1 * element.l1,
        l2_squared=column.l2_squared * element.l2_squared,
        linf=column.linf * element.linf,
    )
