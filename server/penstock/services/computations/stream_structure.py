"""Settle the structure of a stream when it is opened, and its charge."""

from dataclasses import replace
from fractions import Fraction

from penstock.accounting.calibration.levels import level_for
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.vector import asserted, range_of
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import TAIL_A_DRAW
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.mechanisms.lattice import finest_common_power
from penstock.mechanisms.process import Mechanism
from penstock.privacy.target import Target, TargetKind
from penstock.services.noise.kinds.buffered_shape import BufferedShape
from penstock.services.noise.kinds.stream_shape import RootShape, Shape, TreeShape
from penstock.services.schemas.streams import StreamRequest
from penstock.structures.streams import comparison
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.sensitivity import fine_step
from penstock.structures.streams.choice import best_structure, best_tree
from penstock.structures.streams.kary import KaryTree, binary_tree
from penstock.structures.streams.root_matrices import LONGEST, check_root_length
from penstock.structures.streams.smooth_binary import SmoothBinary, smooth_binary

MOST_CHARGED = 2**31 - 1
MOST_KEPT = 2**16
"""The numbers that a square root's state may hold for each level: each push writes them."""

MOST_STEPS_OF_ROOTS = 2**10
"""The most steps for which ``auto`` takes the square root: buffers are as good, and keep less."""

SMALL_PART = 1 / 32
"""The part of a dataset's ``delta`` that draws of buffers may cost for ``auto`` to take them."""


def trees_only_add(mechanism: str, delta: float) -> bool:
    """Return True if streams here must use add-only trees (Laplace noise with delta above 0).

    At a finite order Laplace noise is charged its divergences, node by node.  If elements are
    chosen after reading outputs, these add up only if nodes count past elements alone.  So
    Laplace trees subtract where pure losses are charged: at delta 0, and where ``looking_ahead``
    has another tree.
    """
    return mechanism == "laplace" and delta > 0


def looking_ahead(request: StreamRequest, steps_per_unit: int, delta: float) -> TreeShape | None:
    """Return the tree that subtracts which a stream may have where trees only add, or ``None``.

    It is charged its pure epsilon, and is for Laplace streams with the structure ``auto`` whose
    levels are all given by ``epsilon``.
    """
    levels = request.levels or {}
    if request.structure != "auto" or not trees_only_add(request.mechanism, delta):
        return None
    if not levels or any(level.epsilon is None for level in levels.values()):
        return None
    shape = _tree_shape(request, steps_per_unit, past_only=False)
    return None if shape.past_only else shape


def squared_error(shape: TreeShape, request: StreamRequest, epsilon: float, delta: float) -> float:
    """Return the mean squared error of a Laplace tree at ``epsilon``, over all steps.

    Without an end they are the steps of ``comparison.HORIZON``.  Raises ``InvalidInput``.
    """
    nodes = prepared(request, shape)
    family: type[Mechanism] = Laplace if shape.past_only else PureLaplace
    noise, target = family(finest_common_power(nodes.step)), Target(TargetKind.EPSILON, epsilon)
    level = level_for(noise, target, nodes.sensitivity, delta)
    at_loss_1 = comparison.of_forest(shape.forest, columns=1, pure=True).mean_variance
    return at_loss_1 * float(level / shape.forest.column_l1) ** 2


def _has_less_error(
    shape: TreeShape, other: TreeShape, request: StreamRequest, delta: float
) -> bool:
    """Return True if ``shape`` has less error than ``other`` at every level.

    It is False for levels that cannot be calibrated: opening refuses them with their place.
    """
    epsilons = [level.epsilon for level in (request.levels or {}).values()]
    try:
        return all(
            squared_error(shape, request, each, delta) < squared_error(other, request, each, delta)
            for each in epsilons
            if each is not None
        )
    except InvalidInput:
        return False


def roots_fit(request: StreamRequest) -> bool:
    """Return True if the structure sqrt may replace the structure of the request."""
    length = request.length
    return (
        request.mechanism == "gaussian"
        and length is not None
        and length <= LONGEST
        and length * request.dimension <= MOST_KEPT
    )


def candidates(request: StreamRequest, steps_per_unit: int, delta: float) -> list[Shape]:
    """Return the shapes that a request may get, the best first; each but the last may be refused.

    For Gaussian noise ``auto`` is the square root or buffers if their mean squared error is below
    that of the best tree, and otherwise that tree.  For Laplace noise it is the tree of
    ``looking_ahead`` if its error is below that of the tree that adds, at every level.  Raises
    ``InvalidInput`` as ``settled`` does.
    """
    tree = settled(request, steps_per_unit, delta)
    ahead = looking_ahead(request, steps_per_unit, delta)
    if ahead is not None and isinstance(tree, TreeShape):
        return [ahead, tree] if _has_less_error(ahead, tree, request, delta) else [tree]
    if request.structure != "auto" or request.mechanism != "gaussian":
        return [tree]
    few = roots_fit(request) and (request.length or 0) <= MOST_STEPS_OF_ROOTS
    name = "sqrt" if few else BufferedShape.name
    other = settled(request.model_copy(update={"structure": name}), steps_per_unit, delta)
    draws = other.numbers_of_a_unit * other.draws_of_a_number * request.max_levels
    better = _mean_variance(other, request) < _mean_variance(tree, request)
    return [other, tree] if better and draws * TAIL_A_DRAW <= delta * SMALL_PART else [tree]


def _mean_variance(shape: Shape, request: StreamRequest) -> float:
    """Return the mean variance over all steps at rho 1 of a unit, but for a common factor."""
    columns = shape.max_steps_per_unit
    if isinstance(shape, BufferedShape):
        rounded = shape.rounded(asserted(request.sensitivity, Fraction(shape.step)))
        option = comparison.of_buffers(shape.length, columns=columns, rounded=rounded)
    elif isinstance(shape, TreeShape):
        option = comparison.of_forest(shape.forest, columns=columns)
    else:
        option = comparison.of_square_root(shape.length or 0, pure=False, columns=columns)
    return option.mean_variance


def settled(request: StreamRequest, steps_per_unit: int, delta: float) -> Shape:
    """Return the shape of a request, in a dataset with ``delta``; ``auto`` is the best tree.

    Raises ``InvalidInput``.
    """
    if request.structure == BufferedShape.name:
        return buffered(request, steps_per_unit)
    if request.structure == "sqrt":
        return _root(request, steps_per_unit)
    past_only = trees_only_add(request.mechanism, delta)
    return _tree_shape(request, steps_per_unit, past_only=past_only)


def _tree_shape(request: StreamRequest, steps_per_unit: int, *, past_only: bool) -> TreeShape:
    pure = request.mechanism == "laplace"
    arity = request.k or 2
    if request.k is None and request.structure == "auto":
        arity = comparison.best_arity(comparison.HORIZON, pure=pure, past_only=past_only)
    endless = TreeShape(
        kind="epochs",
        length=None,
        dimension=request.dimension,
        max_steps_per_unit=steps_per_unit,
        step=str(Fraction(request.step)),
        bound=str(Fraction(request.bound)),
        k=arity,
        subtracting=arity > 2 and not past_only,
    )
    if request.length is None:
        return endless
    tree = _tree(request, request.length, pure=pure, past_only=past_only)
    shape = replace(endless, length=request.length, k=None, subtracting=None)
    if isinstance(tree, SmoothBinary):
        return replace(shape, kind="smooth_binary", height=tree.height, zeros=tree.zeros)
    return replace(shape, kind="kary", k=tree.k, subtracting=tree.subtracting)


def _root(request: StreamRequest, steps_per_unit: int) -> RootShape:
    length = request.length or 0
    _require_kept(length, request.dimension)
    return RootShape(
        kind=RootShape.name,
        length=length,
        dimension=request.dimension,
        max_steps_per_unit=steps_per_unit,
        step=str(Fraction(request.step)),
        bound=str(Fraction(request.bound)),
    )


def buffered(request: StreamRequest, steps_per_unit: int) -> BufferedShape:
    """Return buffers for the elements of a request, with the lattice of their noise."""
    step = Fraction(request.step)
    element = asserted(request.sensitivity, step)
    moved = min(request.dimension, steps_per_unit * int(element.l1 / step))
    finer = fine_step(encoder(request.length), element, step, moved, request.max_levels)
    return BufferedShape(
        kind=BufferedShape.name,
        length=request.length,
        dimension=request.dimension,
        max_steps_per_unit=steps_per_unit,
        step=str(step),
        bound=str(Fraction(request.bound)),
        noise_step=str(finer),
        moved=moved,
        max_levels=request.max_levels,
    )


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
    charged = shape.numbers_of_a_unit
    if charged > MOST_CHARGED:
        raise InvalidInput(
            f"One privacy unit would add to {charged} numbers of nodes, for elements of"
            f" {shape.dimension}; this server allows {MOST_CHARGED}. Choose smaller elements, or"
            " fewer steps per unit.",
            pointer="/max_steps_per_unit",
        )
    charged_step, charged_bound = shape.charged_range(step, bound)
    return PreparedQuery(
        keys=None,
        dimension=charged * shape.draws_of_a_number,
        step=charged_step,
        bound=charged_bound,
        sensitivity=shape.sensitivity(asserted(request.sensitivity, step)),
    )
