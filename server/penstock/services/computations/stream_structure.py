"""Settle the structure of a stream when it is opened, and its charge."""

from dataclasses import asdict, replace
from fractions import Fraction

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.vector import asserted, range_of
from penstock.errors import InvalidInput
from penstock.services.noise.kinds.stream_shape import RootShape, Shape, TreeShape
from penstock.services.schemas.streams import StreamRequest
from penstock.structures.streams.choice import best_structure, best_tree
from penstock.structures.streams.kary import KaryTree, binary_tree
from penstock.structures.streams.root_matrices import LONGEST, check_root_length
from penstock.structures.streams.smooth_binary import SmoothBinary, smooth_binary

MOST_CHARGED = 2**31 - 1
MOST_KEPT = 2**16
"""The numbers that a square root's state may hold for each level: each push writes them."""


def trees_only_add(mechanism: str, delta: float) -> bool:
    """Return True if streams here must use add-only trees (Laplace noise with delta above 0).

    At a finite order Laplace noise is charged its divergences, node by node.  If elements are
    chosen after reading outputs, these add up only if nodes count past elements alone.  So
    Laplace trees subtract at delta 0 only, where pure losses are charged.
    """
    return mechanism == "laplace" and delta > 0


def roots_fit(request: StreamRequest) -> bool:
    """Return True if the structure sqrt may replace the structure of the request."""
    length = request.length
    return (
        request.mechanism == "gaussian"
        and length is not None
        and length <= LONGEST
        and length * request.dimension <= MOST_KEPT
    )


def settled(request: StreamRequest, steps_per_unit: int, delta: float) -> Shape:
    """Return the shape of a request, in a dataset with ``delta``.  Raises ``InvalidInput``."""
    pure = request.mechanism == "laplace"
    past_only = trees_only_add(request.mechanism, delta)
    endless = TreeShape(
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
        common = asdict(replace(endless, length=request.length, k=None, subtracting=None))
        return RootShape(**{**common, "kind": RootShape.name})
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
            f"The structure sqrt stores the noise of every step forever: {length} steps of"
            f" {dimension} numbers are {length * dimension:,} for each level, and {MOST_KEPT:,}"
            f" are the most. Choose a tree, which stores few numbers.",
            pointer="/dimension",
        )


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
    """Return the settled terms and the charge of a stream, in the form of a query's.

    Raises ``InvalidInput`` with the pointer of the invalid field.
    """
    step, bound = range_of(request.step, request.bound)
    charged = shape.dimension * shape.nodes_of_a_unit
    if charged > MOST_CHARGED:
        raise InvalidInput(
            f"One privacy unit would add to {charged} numbers, {shape.dimension} in each of"
            f" {shape.nodes_of_a_unit} nodes; this server allows {MOST_CHARGED}. Choose smaller"
            f" elements, or fewer steps per unit.",
            pointer="/max_steps_per_unit",
        )
    charged_step, charged_bound = shape.charged_range(step, bound)
    return PreparedQuery(
        keys=None,
        dimension=charged,
        step=charged_step,
        bound=charged_bound,
        sensitivity=shape.sensitivity(asserted(request.sensitivity, step)),
    )
