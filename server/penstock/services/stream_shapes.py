"""The structure of a stream: settled when it is opened, and read back from its row.

What is charged is the sensitivity of ``R x``: that of a step, by the worst column of ``R``,
times the steps that one unit may be in.  The sampler's error is charged over the nodes that
one unit adds to, since all others have equal laws under neighbors.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from penstock.accounting import sensitivity_of_unit
from penstock.connectors import PreparedQuery
from penstock.connectors.vector import asserted, range_of
from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import LARGEST_STEPS
from penstock.persistence.tables import Query
from penstock.privacy import Sensitivity
from penstock.services.process import CONFIDENCE, Process
from penstock.services.stream_specs import StreamRequest
from penstock.services.views import ErrorView
from penstock.structures import Epochs, Forest, KaryTree, SmoothBinary, binary_tree, smooth_binary
from penstock.structures.choice import best_structure, best_tree
from penstock.structures.forest import chain
from penstock.structures.spread import laplace_half_width, weights

MOST_CHARGED = 2**31 - 1
HEAVIEST = 128
"""No node of a stream without an end weighs more, within 2^63 steps."""


@dataclass(frozen=True)
class Shape:
    """A stream's forest, and of its elements how many numbers, which lattice and which range.

    ``kind`` is kary (with ``k`` 2 and not ``subtracting`` the binary tree), smooth_binary or
    epochs; ``height`` and ``zeros`` belong to the smooth tree.  ``step`` and ``bound`` are
    text, as fractions.
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

    @cached_property
    def forest(self) -> Forest:
        """The nodes."""
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
        return self.forest.nodes_a_step * self.max_steps_per_unit

    def scale(self, process: Process) -> int:
        """Steps of the process's lattice in one step of the elements."""
        scale = Fraction(self.step) / process.mechanism.granularity
        if scale.denominator != 1:
            raise InvalidInput(f"The step {self.step} is not a multiple of the lattice's.")
        return scale.numerator

    def largest_total(self, process: Process) -> float:
        """As far from 0 as a running total may get, in units of values."""
        return float(LARGEST_STEPS * process.mechanism.granularity)

    def error(self, process: Process, rung: int, node: int) -> ErrorView:
        """How far off the total at ``node`` may be, each of its numbers."""
        return next(self.errors(process, rung, [node]))

    def errors(self, process: Process, rung: int, nodes: Iterable[int]) -> Iterator[ErrorView]:
        """The same for many nodes: few of them have different ones."""
        known: dict[object, ErrorView] = {}
        for node in nodes:
            # In all but endless streams every node has the same weight.
            alike: object = (
                weights(self.forest, node)
                if self.length is None
                else sum(1 for _ in chain(self.forest, node))
            )
            if alike not in known:
                known[alike] = _error(process, rung, weights(self.forest, node))
            yield known[alike]

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
    tree = _tree(request, request.length, pure=pure, past_only=past_only)
    shape = replace(endless, length=request.length, k=None, subtracting=None)
    if isinstance(tree, SmoothBinary):
        return replace(shape, kind="smooth_binary", height=tree.height, zeros=tree.zeros)
    return replace(shape, kind="kary", k=tree.k, subtracting=tree.subtracting)


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
        step=step,
        bound=bound,
        sensitivity=of_nodes(asserted(request.sensitivity, step), shape),
    )


def of_nodes(element: Sensitivity, shape: Shape) -> Sensitivity:
    """The sensitivity of all nodes to one unit, ``element`` being that of one element."""
    forest = shape.forest
    column = Sensitivity(
        l1=forest.column_l1 * element.l1,
        l2_squared=forest.column_l2_squared * element.l2_squared,
        linf=element.linf,
    )
    return sensitivity_of_unit(column, shape.max_steps_per_unit)


def _error(process: Process, rung: int, all_weights: Sequence[Fraction]) -> ErrorView:
    mechanism, level = process.mechanism, process.ladder.value(rung)
    if mechanism.name == "gaussian" or len(all_weights) == 1:
        # Of one law as a sum; so is a single node, exactly.
        bars = mechanism.error(level * sum(all_weights), CONFIDENCE)
        return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
    scales = [weight * level for weight in all_weights]
    each = [mechanism.error(scale, CONFIDENCE).standard_deviation for scale in scales]
    width = laplace_half_width(all_weights, CONFIDENCE) * float(level)
    lattice = float(mechanism.granularity)
    return ErrorView(
        standard_deviation=sum(one * one for one in each) ** 0.5,
        confidence=CONFIDENCE,
        half_width=-(-width // lattice) * lattice,
    )
