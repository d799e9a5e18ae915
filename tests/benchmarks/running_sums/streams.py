"""Measure steps of running sums: flat in the length of the stream, and against the square root.

Trees are placed all over their streams, with the nodes that are in use there, and go on from
that.  The square root keeps the noise of every step, and weighs all of it in each;
besides that it is given the whole stream at once, as one convolution, which no stream is.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import count

import numpy as np
from scipy.signal import fftconvolve
from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.mechanisms import Gaussian, Mechanism
from penstock.randomness import Stream
from penstock.structures import Forest, KaryTree, NodeNoise, binary_tree, smooth_binary
from penstock.structures.factorization.square_root import coefficients
from penstock.structures.streams.choice import Tree
from penstock.structures.streams.forest import chain

STEPS = 10_000
PIECE = 500
"""As many steps are taken at once: half of what the shortest stream has."""

EXPONENTS = (10, 16, 20, 24)
DIMENSION, LENGTH = 1_000, 1 << 16
WIDE_STEPS = 64
CONVOLVED = 16
"""Coordinates that are convolved at once; the time of all of them is in proportion."""

MECHANISM: Mechanism = Gaussian(Fraction(1, 1 << 12))
TIERS = (Fraction(1), Fraction(2), Fraction(4))
FLAT = Goal(1.5, at_most=True)
FASTER = Goal(1.0)

TREES: dict[str, Callable[[int], Tree]] = {
    "binary tree": binary_tree,
    "k-ary tree (k = 19)": lambda length: KaryTree(length, 19),
    "smooth binary tree": lambda length: smooth_binary(length, pure=False),
}


def numbered_streams(label: str) -> Callable[[], Stream]:
    """Return a function whose streams follow from a label and their number."""
    numbers = count()
    return lambda: Stream.from_key(sha256(f"{label}/{next(numbers)}".encode()).digest())


def placed(
    forest: Forest,
    dimension: int,
    levels: Sequence[Fraction],
    streams: Callable[[], Stream],
    at: int | None = None,
) -> NodeNoise:
    """Return the noise at a step, else in the middle of the stream.

    All nodes on the way there are drawn.
    """
    at = (forest.length or 1) // 2 if at is None else at
    noise = NodeNoise.begin(MECHANISM, forest, dimension, levels, at - 1)
    noise.advance(1, streams)
    nodes = [entry.node for entry in noise.way]
    assert nodes == list(chain(forest, forest.node(at)))[::-1], "the way there is another"
    return noise


def _steps(forest: Forest, steps: int) -> Callable[[], object]:
    streams = numbered_streams("streams")
    pieces = steps // PIECE
    # All over the stream: how many nodes a smooth tree draws in a piece depends on where it is.
    room = (forest.length or 0) - PIECE
    places = [1 + room * (2 * piece + 1) // (2 * pieces) for piece in range(pieces)]

    def task() -> None:
        for place in places:
            noise = placed(forest, 1, TIERS, streams, place)
            for drawn in noise.advance(PIECE - 1, streams):
                assert drawn.shape == (PIECE - 1, 1)

    return task


def _flat(rounds: int, steps: int) -> list[Figure]:
    found = []
    for name, tree in TREES.items():
        lengths = {f"2^{exponent}": tree(1 << exponent) for exponent in EXPONENTS}
        taken = in_turns(
            rounds, {length: _steps(forest, steps) for length, forest in lengths.items()}
        )
        first, *others = taken
        found.append(median(f"{name}: {steps} steps at T = {first}", taken[first], "ms", 1e3))
        found += [
            ratio(f"{name}: T = {other} over {first}", taken[other], taken[first], FLAT)
            for other in others
        ]
    return found


def _wide(rounds: int, dimension: int, length: int, steps: int) -> list[Figure]:
    """Return one tier's step, noise included, for elements of ``dimension`` numbers."""
    streams = numbered_streams("wide streams")
    stream = streams()
    past = stream.generator.standard_normal((length // 2, dimension), dtype=np.float32)
    column = coefficients(length)
    weights = column[length // 2 : 0 : -1].astype(np.float32)

    def online() -> None:
        for _ in range(2):
            new = stream.generator.standard_normal(dimension)
            output = weights @ past + new
            assert output.shape == (dimension,)

    def whole() -> None:
        noise = stream.generator.standard_normal((length, CONVOLVED))
        found = fftconvolve(noise, column[:, None], axes=0)[:length]
        assert found.shape == noise.shape

    trees = {
        name: placed(tree(length), dimension, TIERS[:1], streams) for name, tree in TREES.items()
    }

    def together(name: str) -> Callable[[], object]:
        return lambda: trees[name].advance(steps, streams)

    def singly(name: str) -> Callable[[], object]:
        return lambda: [trees[name].advance(1, streams) for _ in range(steps)]

    tasks: dict[str, Callable[[], object]] = {"online": online, "whole": whole}
    tasks |= {name: singly(name) for name in trees}
    tasks |= {f"{name}, {steps} at once": together(name) for name in trees}
    per_step = {"online": 1 / 2, "whole": dimension / CONVOLVED / length}
    scaled = {
        name: [value * per_step.get(name, 1 / steps) for value in values]
        for name, values in in_turns(rounds, tasks).items()
    }
    found = [
        median(f"square root: a step, T = {length}", scaled["online"], "ms", 1e3),
        median("square root: a step, whole stream at once", scaled["whole"], "ms", 1e3),
    ]
    for name in trees:
        once = f"{name}, {steps} at once"
        found += [
            median(f"{name}: a step", scaled[name], "ms", 1e3),
            median(f"{once}: a step", scaled[once], "ms", 1e3),
            ratio(f"square root over {name}", scaled["online"], scaled[name], FASTER),
            ratio(f"whole square root over {once}", scaled["whole"], scaled[once]),
        ]
    return found


def _kept(dimension: int, length: int) -> list[Figure]:
    """Return how much memory a tier's numbers take at most, of 8 bytes each.

    It is computed, not measured.
    """
    nodes = {name: tree(length).most_nodes() for name, tree in TREES.items()}
    nodes["square root"] = length
    return [
        Figure(f"{name}: kept by a tier, T = {length}", 8 * kept * dimension / 2**20, "MiB")
        for name, kept in nodes.items()
    ]


def measure(
    rounds: int = 7,
    steps: int = STEPS,
    wide: tuple[int, int, int] = (DIMENSION, LENGTH, WIDE_STEPS),
    say: Print = print,
) -> Sequence[Figure]:
    """Measure flat streams, wide ones, and the memory they take.

    ``wide`` is dimension, length and steps at once of the comparison with the square root.
    """
    dimension, length, at_once = wide
    say(f"Three tiers of one number; below, one tier of elements of {dimension} numbers.")
    wide_figures = _wide(rounds, dimension, length, at_once)
    return [*_flat(rounds, steps), *wide_figures, *_kept(dimension, length)]
