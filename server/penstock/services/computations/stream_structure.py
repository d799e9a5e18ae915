"""The structure of a stream: settled when it is opened, and read back from its row.

What is charged is the sensitivity of ``R x``: that of a step, by the worst column of ``R``,
times the steps that one unit may be in, or that of as many columns together.  The
sampler's error is charged over the nodes that one unit adds to, since all others have equal
laws under neighbors.
"""

import json
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from penstock.accounting import sensitivity_of_unit
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.vector import asserted, range_of
from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import LARGEST_STEPS, floor_log2
from penstock.persistence.tables import Query
from penstock.privacy import Sensitivity
from penstock.services.ledger.quotes import Offer
from penstock.services.noise.process import Process
from penstock.services.schemas.streams import StreamRequest
from penstock.structures import Epochs, Forest, KaryTree, SmoothBinary, binary_tree, smooth_binary
from penstock.structures.streams.choice import best_structure, best_tree
from penstock.structures.streams.root_matrices import DIGITS, LONGEST, check_root_length, columns

MOST_CHARGED = 2**31 - 1
MOST_KEPT = 2**16
"""Numbers that the state of a square root holds for each level: it is written with each push."""

HEAVIEST = 128
"""No node of a stream without an end weighs more, within 2^63 steps."""


@dataclass(frozen=True)
class Shape:
    """A stream's forest, and of its elements how many numbers, which lattice and which range.

    ``kind`` is kary (with ``k`` 2 and not ``subtracting`` the binary tree), smooth_binary,
    epochs or square_root, which is no forest; ``height`` and ``zeros`` belong to the smooth
    tree, ``output`` to the square root: the lattice of its totals, coarser than that of its
    noises.  ``step``, ``bound`` and ``output`` are text, as fractions.
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

    @classmethod
    def of(cls, query: Query) -> "Shape":
        """The shape that a stream was opened with."""
        return cls.decoded(query.structure or "{}")

    @classmethod
    def decoded(cls, structure: str) -> "Shape":
        """From the column that ``encoded`` was stored in."""
        return cls(**json.loads(structure))

    def encoded(self) -> str:
        """As it is stored."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps({"length": None, **known}, sort_keys=True)

    @property
    def is_root(self) -> bool:
        """Whether it is the square root, all of whose nodes serve for ever."""
        return self.kind == "square_root"

    @cached_property
    def forest(self) -> Forest:
        """The nodes of a tree, or of epochs."""
        if self.kind == "smooth_binary":
            return SmoothBinary(self.length or 0, self.height or 0, self.zeros or 0)
        if self.kind == "epochs":
            return Epochs(self.k or 0, subtracting=bool(self.subtracting))
        return KaryTree(self.length or 0, self.k or 0, subtracting=bool(self.subtracting))

    def settings(self) -> dict[str, Any]:
        """What is told of the structure."""
        every = {
            "kind": self.kind,
            "k": self.k,
            "subtracting": self.subtracting,
            "height": self.height,
            "zeros": self.zeros,
        }
        return {name: value for name, value in every.items() if value is not None}

    @property
    def nodes_of_a_unit(self) -> int:
        """The most nodes that one unit adds to."""
        if self.is_root:
            return self.length or 0
        return self.forest.nodes_a_step * self.max_steps_per_unit

    def granularity(self, process: Process) -> Fraction:
        """The lattice of running totals: that of noises, but for the square root."""
        return Fraction(self.output) if self.output else process.mechanism.granularity

    def coarse(self, process: Process) -> int:
        """Binary logarithm of steps of the noises in one step of the totals."""
        return floor_log2(self.granularity(process) / process.mechanism.granularity)

    def scale(self, process: Process) -> int:
        """Steps of the totals' lattice in one step of the elements."""
        scale = Fraction(self.step) / self.granularity(process)
        if scale.denominator != 1:
            raise InvalidInput(f"The step {self.step} is not a multiple of the lattice's.")
        return scale.numerator

    def largest_total(self, process: Process) -> float:
        """As far from 0 as a running total may get, in units of values."""
        return float(LARGEST_STEPS * self.granularity(process))

    def following(self, step: int) -> int | None:
        """The number of the next element after ``step`` of them; ``None`` where none fits."""
        return None if self.length is not None and step >= self.length else step + 1

    def require_reach(self, process: Process, rung: int) -> None:
        """Raise ``InvalidInput`` where the noise of the heaviest node would leave its range."""
        heaviest = HEAVIEST if self.length is None else 1
        ladder = process.ladder
        if ladder.value(rung) * heaviest > ladder.value(ladder.last):
            raise InvalidInput(
                f"The level {float(ladder.value(rung)):g} is too noisy for a stream without an"
                f" end, whose nodes have up to {HEAVIEST} times of it; give a length, or a"
                " more accurate level."
            )


def trees_only_add(mechanism: str, delta: float) -> bool:
    """Whether a stream of a dataset with ``delta`` gets no tree that subtracts.

    At a finite order Laplace noise is charged its divergences, node by node, which add up
    for elements that are chosen by reading outputs where nodes count past elements alone.
    So its trees subtract at delta 0 only, where pure losses are charged.
    """
    return mechanism == "laplace" and delta > 0


def roots_fit(request: StreamRequest) -> bool:
    """Whether the structure sqrt may be asked for in place of the request's own."""
    length = request.length
    return (
        request.mechanism == "gaussian"
        and length is not None
        and length <= LONGEST
        and length * request.dimension <= MOST_KEPT
    )


def settled(request: StreamRequest, steps_per_unit: int, delta: float) -> Shape:
    """The shape that a request asks for, in a dataset with ``delta``.  Raises ``InvalidInput``."""
    pure = request.mechanism == "laplace"
    past_only = trees_only_add(request.mechanism, delta)
    endless = Shape(
        kind="epochs",
        length=None,
        dimension=request.dimension,
        max_steps_per_unit=steps_per_unit,
        step=str(Fraction(request.step)),
        bound=str(Fraction(request.bound)),
        k=request.k or 2,
        subtracting=(request.k or 2) > 2 and not past_only,
    )
    if request.length is None:
        return endless
    if request.structure == "sqrt":
        _require_kept(request.length, request.dimension)
        return replace(endless, kind="square_root", length=request.length, k=None, subtracting=None)
    tree = _tree(request, request.length, pure=pure, past_only=past_only)
    shape = replace(endless, length=request.length, k=None, subtracting=None)
    if isinstance(tree, SmoothBinary):
        return replace(shape, kind="smooth_binary", height=tree.height, zeros=tree.zeros)
    return replace(shape, kind="kary", k=tree.k, subtracting=tree.subtracting)


def _require_kept(length: int, dimension: int) -> None:
    """Raise ``InvalidInput`` for more noise than the state of a square root may hold."""
    check_root_length(length)
    if length * dimension > MOST_KEPT:
        raise InvalidInput(
            f"The square root keeps the noise of every step for ever: {length} steps of"
            f" {dimension} numbers are {length * dimension:,} for each level, and {MOST_KEPT:,} are"
            " the most. Take a tree, which keeps few.",
            pointer="/dimension",
        )


def fitted(shape: Shape, offer: Offer) -> Shape:
    """The shape with the lattice of its totals, which the ceiling decides.

    Raises ``InvalidInput`` where elements as large as were declared do not fit it.
    """
    if not shape.is_root:
        return shape
    process = offer.process
    ceiling = process.ladder.value(offer.ceiling)
    plain, _ = type(process.mechanism).plan(ceiling, Fraction(shape.step), Fraction(shape.bound))
    return replace(shape, output=str(plain.granularity))


def _tree(
    request: StreamRequest, length: int, *, pure: bool, past_only: bool
) -> KaryTree | SmoothBinary:
    if request.structure == "binary":
        return binary_tree(length)
    if request.structure == "smooth_binary":
        return smooth_binary(length, pure=pure)
    if request.structure == "auto":
        return best_structure(length, pure=pure, past_only=past_only)
    if request.k is None:
        return best_tree(length, pure=pure, past_only=past_only)
    return KaryTree(length, request.k, subtracting=request.k > 2 and not past_only)


def prepared(request: StreamRequest, shape: Shape) -> PreparedQuery:
    """What is to be settled and charged for a stream, as for a query.

    Raises ``InvalidInput`` with the pointer of what cannot be meant.
    """
    step, bound = range_of(request.step, request.bound)
    charged = shape.dimension * shape.nodes_of_a_unit
    if charged > MOST_CHARGED:
        raise InvalidInput(
            f"One unit would add to {charged} numbers, {shape.dimension} in each of"
            f" {shape.nodes_of_a_unit} nodes; this server allows {MOST_CHARGED}. Take smaller"
            " elements, or fewer steps of a unit.",
            pointer="/max_steps_per_unit",
        )
    return PreparedQuery(
        keys=None,
        dimension=charged,
        # What R makes of elements lies on a finer lattice; and it is never held.
        step=step / (1 << DIGITS) if shape.is_root else step,
        bound=Fraction(0) if shape.is_root else bound,
        sensitivity=of_nodes(asserted(request.sensitivity, step), shape),
    )


def of_nodes(element: Sensitivity, shape: Shape) -> Sensitivity:
    """The sensitivity of all nodes to one unit, ``element`` being that of one element.

    The triangle inequality bounds what several steps of a unit move together in a tree; for
    the square root it is known exactly.
    """
    if shape.is_root:
        of = columns(shape.length or 0, shape.max_steps_per_unit)
        return Sensitivity(
            l1=of.l1 * element.l1,
            l2_squared=of.l2_squared * element.l2_squared,
            linf=of.linf * element.linf,
        )
    forest = shape.forest
    column = Sensitivity(
        l1=forest.column_l1 * element.l1,
        l2_squared=forest.column_l2_squared * element.l2_squared,
        linf=element.linf,
    )
    return sensitivity_of_unit(column, shape.max_steps_per_unit)
