"""What each structure for running sums would cost, side by side, before anything is drawn.

At one guarantee of the whole stream, of one element: ``epsilon`` for Laplace noise, ``rho`` for
Gaussian.  All figures are computed from the structures' own nodes, exactly but for the
square root's coefficients, which are floats.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace, Mechanism
from penstock.privacy import Sensitivity
from penstock.structures.choice import best_tree
from penstock.structures.epochs import Epochs
from penstock.structures.forest import chain, check_length
from penstock.structures.kary import KaryTree, binary_tree
from penstock.structures.smooth_binary import SmoothBinary, smooth_binary

HORIZON = 1 << 20
"""Over how many steps a stream without an end is judged, where nothing else is asked for."""

LONGEST_SQUARE_ROOT = 1 << 20
"""The square root keeps a number for every step, and is not offered beyond as many."""


EPOCH_ARITIES = range(2, 33)
"""Of the trees in epochs: the longest epoch decides, and few are long enough for more."""


@dataclass(frozen=True)
class Offer:
    """One structure at the given guarantee.

    Variances are of one number of an output, over time.  ``kept`` numbers stand in the state
    of a tier at most, ``drawn`` of them are drawn and ``added`` to outputs in a step on
    average; ``settings`` are what the structure is made with.
    """

    structure: str
    settings: Mapping[str, int]
    mean_variance: float
    largest_variance: float
    kept: int
    drawn: float
    added: float
    lossless: bool


@dataclass(frozen=True)
class _Nodes:
    """Of a structure at level 1: sums over outputs in units of a node's variance."""

    mean: float
    largest: float
    kept: int
    drawn: float
    added: float


def offers(
    length: int | None,
    mechanism: type[Mechanism],
    loss: float,
    sensitivity: Sensitivity,
    *,
    dimension: int = 1,
    horizon: int = HORIZON,
) -> list[Offer]:
    """Every structure that fits a stream of ``length`` steps, the least mean error first.

    ``loss`` is ``epsilon`` or ``rho`` of the whole stream where one element of ``dimension``
    numbers changes by ``sensitivity``.  Without a length only epochs fit, and are judged over
    ``horizon`` steps.  Raises ``InvalidInput`` for a length or dimension below 1, a loss that
    is not positive, and a mechanism whose noise has no such tree.
    """
    pure = issubclass(mechanism, Laplace)
    if not pure and not issubclass(mechanism, Gaussian):
        raise InvalidInput(
            f"Streams take the noise of laplace or gaussian, not {mechanism.name}.",
            pointer="/mechanism",
        )
    if not (math.isfinite(loss) and loss > 0) or dimension < 1:
        raise InvalidInput(
            f"A comparison needs a loss above 0 and at least one number an element, not {loss:g}"
            f" and {dimension}."
        )
    unit = _unit(pure, loss, sensitivity)
    found = _epochs(horizon if length is None else length, unit, dimension, pure=pure)
    if length is not None:
        found = [*found, *_bounded(length, unit, dimension, pure=pure)]
    return sorted(found, key=lambda offer: offer.mean_variance)


def _unit(pure: bool, loss: float, sensitivity: Sensitivity) -> float:
    """The variance of a node that alone spends ``loss``."""
    if pure:
        return 2 * (float(sensitivity.l1) / loss) ** 2
    return float(sensitivity.l2_squared) / (2 * loss)


def _bounded(length: int, unit: float, dimension: int, *, pure: bool) -> Iterator[Offer]:
    trees = {"binary": binary_tree(length), "kary": best_tree(length, pure=pure)}
    for name, tree in trees.items():
        settings = {"k": tree.k, "subtracting": int(tree.subtracting), "height": tree.height}
        share = float(tree.column_l1 ** (2 if pure else 1)) * unit
        yield _offer(name, settings, _of_tree(tree), share, dimension, lossless=tree.lossless)
    smooth = smooth_binary(length, pure=pure)
    settings = {"height": smooth.height, "zeros": smooth.zeros}
    share = float(smooth.column_l1 ** (2 if pure else 1)) * unit
    yield _offer("smooth_binary", settings, _of_smooth(smooth), share, dimension, lossless=False)
    if length <= LONGEST_SQUARE_ROOT:
        yield _square_root(length, unit, dimension, pure=pure)


def _epochs(steps: int, unit: float, dimension: int, *, pure: bool) -> list[Offer]:
    """With binary trees, which are lossless, and with those of the least mean error."""
    check_length(steps)
    power = 2 if pure else 1
    judged = {arity: _of_epochs(Epochs(arity), steps, power=power) for arity in EPOCH_ARITIES}
    best = min(judged, key=lambda arity: judged[arity].mean)
    return [
        _offer(
            "epochs",
            {"arity": arity},
            judged[arity],
            unit,
            dimension,
            lossless=Epochs(arity).lossless,
        )
        for arity in sorted({2, best})
    ]


def _offer(
    name: str,
    settings: Mapping[str, int],
    nodes: _Nodes,
    share: float,
    dimension: int,
    *,
    lossless: bool,
) -> Offer:
    return Offer(
        structure=name,
        settings=settings,
        mean_variance=nodes.mean * share,
        largest_variance=nodes.largest * share,
        kept=nodes.kept * dimension,
        drawn=nodes.drawn * dimension,
        added=nodes.added * dimension,
        lossless=lossless,
    )


def _of_tree(tree: KaryTree) -> _Nodes:
    drawn = nodes_drawn(tree) / tree.length
    most = tree.most_nodes()
    return _Nodes(float(tree.mean_nodes()), float(most), most, drawn, drawn)


def nodes_drawn(tree: KaryTree) -> int:
    """How many nodes all outputs of a tree have, each of which is drawn once.

    One for each step, and those beyond the last step that its own way leads over: where an
    earlier step is rounded up beyond the last, the last one is rounded to the same.
    """
    return tree.length + sum(node > tree.length for node in chain(tree, tree.length))


def _of_smooth(tree: SmoothBinary) -> _Nodes:
    drawn = smooth_nodes_drawn(tree) / tree.length
    return _Nodes(float(tree.ones), float(tree.ones), tree.ones, drawn, drawn)


def smooth_nodes_drawn(tree: SmoothBinary) -> int:
    """How many nodes all outputs have.

    A node of ``j`` ones is first met at the pattern with its other ones at the lowest bits,
    so that those met up to the last pattern are counted by rank.  The nodes of the very
    first pattern, before all outputs, belong to none of them.
    """
    last = tree.node(tree.length)
    found = -tree.ones
    for held in range(1, tree.ones + 1):
        below = tree.ones - held
        found += _smaller(((last + 1) >> below), held)
    return found


def _smaller(bound: int, ones: int) -> int:
    """How many integers below ``bound`` have exactly ``ones`` ones."""
    found = 0
    for bit in range(bound.bit_length() - 1, -1, -1):
        if bound >> bit & 1:
            found += math.comb(bit, ones)
            ones -= 1
            if ones < 0:
                break
    return found


def _of_epochs(epochs: Epochs, steps: int, *, power: int) -> _Nodes:
    """Epoch by epoch: the nodes of those before, those of its own tree, its last output."""
    total, largest, kept, drawn = Fraction(0), Fraction(0), 0, 0
    begun = epoch = 0
    own = Fraction(2**power)
    while begun < steps:
        inner = min(steps - begun, (1 << epoch) - 1)
        before = epoch * own
        if inner > 0:
            whole = KaryTree((1 << epoch) - 1, epochs.arity, subtracting=epochs.arity > 2)
            part = KaryTree(inner, epochs.arity, subtracting=epochs.arity > 2)
            weight = (2 * whole.column_l1) ** power
            total += inner * (before + weight * part.mean_nodes())
            largest = max(largest, before + weight * part.most_nodes())
            kept = max(kept, epoch + part.most_nodes())
            drawn += nodes_drawn(part)
        if steps - begun > inner:
            total += before + own
            largest, kept = max(largest, before + own), max(kept, epoch + 1)
            drawn += 1
        begun += 1 << epoch
        epoch += 1
    return _Nodes(float(total / steps), float(largest), kept, drawn / steps, drawn / steps)


def _square_root(length: int, unit: float, dimension: int, *, pure: bool) -> Offer:
    # Imported late: scipy is slow to import.
    import numpy as np

    from penstock.structures.square_root import coefficients

    column = coefficients(length)
    squares = np.cumsum(np.square(column))
    share = (float(column.sum()) ** 2 if pure else float(squares[-1])) * unit
    nodes = _Nodes(float(squares.mean()), float(squares[-1]), length, 1.0, (length + 1) / 2)
    return _offer("square_root", {}, nodes, share, dimension, lossless=True)
