"""Compare the errors and costs of structures for running sums, before anything is drawn.

All have the same guarantee for one element over the whole stream: ``epsilon`` for Laplace noise,
``rho`` for Gaussian.  All figures are computed from the structures' own nodes, exactly except for
the entries of the square root and of buffers, which are floats.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.process import Mechanism
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.streams.buffered.encoder import columns as buffered_columns
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.errors import squares
from penstock.structures.streams.choice import (
    Tree,
    largest_squared_error,
    mean_squared_error,
    trees,
)
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import Forest, chain, check_length
from penstock.structures.streams.kary import KaryTree
from penstock.structures.streams.smooth_binary import SmoothBinary

HORIZON = 1 << 20
"""The steps over which a stream without an end is evaluated, unless the caller gives others."""

LONGEST_SQUARE_ROOT = 1 << 20
"""The most steps for which the square root is listed: it keeps a number for every step."""


EPOCH_ARITIES = range(2, 33)
"""Arities tried for the trees in epochs: few epochs are long enough for more."""


@dataclass(frozen=True)
class Option:
    """Hold one structure at the given guarantee.

    Variances are of one number of an output, over time; ``noisiest_step`` is the last of
    those with the largest.  ``kept`` is the most numbers in the state of a tier, ``drawn`` how
    many are drawn and ``added`` how many are added to outputs, in a step on average;
    ``settings`` are the arguments of the structure.
    """

    structure: str
    settings: Mapping[str, int]
    mean_variance: float
    largest_variance: float
    noisiest_step: int
    kept: int
    drawn: float
    added: float
    lossless: bool


def compare(
    length: int | None,
    mechanism: type[Mechanism],
    loss: float,
    sensitivity: Sensitivity,
    *,
    dimension: int = 1,
    horizon: int = HORIZON,
    past_only: bool = False,
    forest: Forest | None = None,
    columns: int = 1,
    rounded: float = 1.0,
) -> list[Option]:
    """Return every structure that fits a stream of ``length`` steps, the least mean error first.

    ``loss`` is ``epsilon`` or ``rho`` of the whole stream if one element of ``dimension`` numbers
    changes by ``sensitivity``.  Without a length epochs and, for Gaussian noise, buffers fit; they
    are evaluated over ``horizon`` steps.  With ``past_only`` trees only add; ``forest`` is listed
    as well.  ``sensitivity`` may be ``columns`` times that of a step, for a unit in so many, whose
    nodes move less than ``columns`` times as far; ``rounded`` is how many times the squared norm
    of buffers is that without their roundings.  Raises ``InvalidInput`` for a length or dimension
    below 1, a loss that is not positive, and a mechanism whose noise has no such tree.
    """
    pure = issubclass(mechanism, Laplace)
    if not pure and not issubclass(mechanism, Gaussian):
        raise InvalidInput(
            f"Streams take the noise of laplace or gaussian, not {mechanism.name}.",
            pointer="/mechanism",
        )
    if not (math.isfinite(loss) and loss > 0) or dimension < 1:
        raise InvalidInput(
            f"A comparison needs a loss above 0 and at least one number per element, not {loss:g}"
            f" and {dimension}."
        )
    steps = horizon if length is None else length
    options = _epochs(steps, pure=pure, past_only=past_only, forest=forest)
    if length is not None:
        fitting = trees(length, pure=pure, past_only=past_only)
        if isinstance(forest, Tree) and forest not in fitting:
            fitting.append(forest)
        options += [of_tree(tree, pure=pure, columns=columns) for tree in fitting]
        if length <= LONGEST_SQUARE_ROOT:
            options.append(of_square_root(length, pure=pure, columns=columns))
    if not pure:
        options.append(of_buffers(length, columns=columns, rounded=rounded, horizon=horizon))
    scaled = (_scaled(option, _unit(pure, loss, sensitivity), dimension) for option in options)
    return sorted(scaled, key=lambda option: option.mean_variance)


def described(forest: Forest) -> tuple[str, dict[str, int]]:
    """Return the name and the settings of a structure, as its option has them."""
    if isinstance(forest, Epochs):
        return "epochs", {"arity": forest.arity, "subtracting": int(not forest.past_only)}
    if isinstance(forest, SmoothBinary):
        return "smooth_binary", {"height": forest.height, "zeros": forest.zeros}
    if not isinstance(forest, KaryTree):
        raise TypeError(f"{type(forest).__name__} is not a structure that can be compared")
    settings = {"k": forest.k, "subtracting": int(forest.subtracting), "height": forest.height}
    return ("binary" if forest.k == 2 and not forest.subtracting else "kary"), settings


def _unit(pure: bool, loss: float, sensitivity: Sensitivity) -> float:
    """Return the ratio of a variance at ``loss`` to that at loss 1 and sensitivity 1."""
    if pure:
        return (float(sensitivity.l1) / loss) ** 2
    return float(sensitivity.l2_squared) / loss


def _scaled(option: Option, unit: float, dimension: int) -> Option:
    return replace(
        option,
        mean_variance=option.mean_variance * unit,
        largest_variance=option.largest_variance * unit,
        kept=option.kept * dimension,
        drawn=option.drawn * dimension,
        added=option.added * dimension,
    )


def of_tree(tree: Tree, *, pure: bool, columns: int) -> Option:
    """Return the option of a tree, for elements of one number at loss 1."""
    together = tree.columns(columns)
    part = (
        (together.l1 / (columns * tree.column_l1)) ** 2
        if pure
        else together.l2_squared / (columns**2 * tree.column_l2_squared)
    )
    nodes = smooth_nodes_drawn(tree) if isinstance(tree, SmoothBinary) else nodes_drawn(tree)
    drawn = nodes / tree.length
    return Option(
        *described(tree),
        mean_variance=float(mean_squared_error(tree, pure=pure) * part),
        largest_variance=float(largest_squared_error(tree, pure=pure) * part),
        noisiest_step=tree.noisiest_step,
        kept=tree.most_nodes(),
        drawn=drawn,
        added=drawn,
        lossless=tree.lossless,
    )


def _epochs(steps: int, *, pure: bool, past_only: bool, forest: Forest | None) -> list[Option]:
    """Return epochs with binary trees, which are lossless, and those of the least mean error."""
    arities = {2, best_arity(steps, pure=pure, past_only=past_only)}
    listed = [Epochs(arity, subtracting=not past_only) for arity in sorted(arities)]
    if isinstance(forest, Epochs) and described(forest) not in map(described, listed):
        listed.append(forest)
    return [of_epochs(epochs, steps, pure=pure) for epochs in listed]


@lru_cache(maxsize=64)
def best_arity(steps: int, *, pure: bool, past_only: bool) -> int:
    """Return the arity of epochs with the least mean error over ``steps``, of those tried.

    Raises ``InvalidInput`` for fewer steps than one.
    """
    check_length(steps)

    def mean_variance(arity: int) -> float:
        return of_epochs(Epochs(arity, subtracting=not past_only), steps, pure=pure).mean_variance

    return min(EPOCH_ARITIES, key=mean_variance)


def nodes_drawn(tree: KaryTree) -> int:
    """Return how many nodes all outputs of a tree have, each of which is drawn once.

    There is one for each step, and those beyond the last step to which its own chain leads: if an
    earlier step is rounded up beyond the last, the last one is rounded to the same.
    """
    return tree.length + sum(node > tree.length for node in chain(tree, tree.length))


def smooth_nodes_drawn(tree: SmoothBinary) -> int:
    """Return how many nodes all outputs of a smooth tree have.

    A node of ``j`` ones is first used by the pattern with its other ones at the lowest bits,
    so those used up to the last pattern are counted by rank.  The nodes of the very
    first pattern, before all outputs, belong to none of them.
    """
    last = tree.node(tree.length)
    nodes = -tree.ones
    for ones in range(1, tree.ones + 1):
        below = tree.ones - ones
        nodes += _smaller(((last + 1) >> below), ones)
    return nodes


def _smaller(bound: int, ones: int) -> int:
    """Return how many integers below ``bound`` have exactly ``ones`` ones."""
    count = 0
    for bit in range(bound.bit_length() - 1, -1, -1):
        if bound >> bit & 1:
            count += math.comb(bit, ones)
            ones -= 1
            if ones < 0:
                break
    return count


def of_forest(
    forest: Forest, *, columns: int, pure: bool = False, horizon: int = HORIZON
) -> Option:
    """Return the option of a tree or epochs, for elements of one number at loss 1."""
    if isinstance(forest, Epochs):
        return of_epochs(forest, horizon, pure=pure)
    if not isinstance(forest, Tree):
        raise TypeError(f"{type(forest).__name__} is not a structure that can be compared")
    return of_tree(forest, pure=pure, columns=columns)


def of_epochs(epochs: Epochs, steps: int, *, pure: bool) -> Option:
    """Return the option of epochs, for elements of one number at loss 1.

    The figures are summed over epochs: nodes of earlier epochs, of its own tree, its last output.
    """
    power = 2 if pure else 1
    total, largest, kept, drawn = Fraction(0), (Fraction(0), 0), 0, 0
    begun = epoch = 0
    own = Fraction(2**power)
    while begun < steps:
        inner = min(steps - begun, (1 << epoch) - 1)
        before = epoch * own
        if inner > 0:
            subtracting = not epochs.past_only
            whole = KaryTree((1 << epoch) - 1, epochs.arity, subtracting=subtracting)
            part = KaryTree(inner, epochs.arity, subtracting=subtracting)
            weight = (2 * whole.column_l1) ** power
            total += inner * (before + weight * part.mean_nodes())
            noisiest = before + weight * part.most_nodes(), begun + part.noisiest_step
            largest = max(largest, noisiest)
            kept = max(kept, epoch + part.most_nodes())
            drawn += nodes_drawn(part)
        if steps - begun > inner:
            total += before + own
            largest, kept = max(largest, (before + own, begun + inner + 1)), max(kept, epoch + 1)
            drawn += 1
        begun += 1 << epoch
        epoch += 1
    node = Fraction(2) if pure else Fraction(1, 2)
    return Option(
        *described(epochs),
        mean_variance=float(node * total / steps),
        largest_variance=float(node * largest[0]),
        noisiest_step=largest[1],
        kept=kept,
        drawn=drawn / steps,
        added=drawn / steps,
        lossless=epochs.lossless,
    )


def of_buffers(
    length: int | None, *, columns: int, rounded: float, horizon: int = HORIZON
) -> Option:
    """Return the option of buffered noise, for elements of one number at rho 1.

    A buffer and the total are two integers each; all are added up in a step.
    """
    matrix, steps = encoder(length), horizon if length is None else length
    largest, mean = squares(matrix, steps)
    node = float(buffered_columns(matrix, columns).l2_squared) * rounded / columns**2 / 2
    numbers = len(matrix.exponents) + 1
    return Option(
        "buffered",
        {"buffers": numbers - 1},
        mean_variance=mean * node,
        largest_variance=largest * node,
        noisiest_step=steps,
        kept=2 * numbers,
        drawn=1.0,
        added=float(numbers),
        lossless=True,
    )


def of_square_root(length: int, *, pure: bool, columns: int) -> Option:
    """Return the option of the square root, for elements of one number at loss 1."""
    # Imported late: scipy is slow to import.
    import numpy as np

    from penstock.structures.factorization.square_root import coefficients

    column = coefficients(length)
    squares = np.cumsum(np.square(column))
    # The columns' sum row by row, in one pass over the steps that one unit may be in.
    together = np.cumsum(column)
    together[columns:] -= together[:-columns].copy()
    norm = float(np.square(together).sum()) / columns**2
    node = 2 * float(column.sum()) ** 2 if pure else norm / 2
    return Option(
        "square_root",
        {},
        mean_variance=float(squares.mean()) * node,
        largest_variance=float(squares[-1]) * node,
        noisiest_step=length,
        kept=length,
        drawn=1.0,
        added=(length + 1) / 2,
        lossless=True,
    )
