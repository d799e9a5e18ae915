"""Provide streams of noise with tiers that join midway, and the covariance that they must have.

What is expected is written down here from digits and bit patterns, and never taken from
the forest's own parents.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from tests.statistical.processes.paths import keyed_streams

from penstock.mechanisms import Gaussian, Laplace, Mechanism
from penstock.structures import Epochs, Forest, KaryTree, NodeNoise, balanced, binary_tree

Matrix = NDArray[np.float64]
Way = Mapping[object, Fraction]
"""The nodes of one output, and the weight of each."""

STEPS_OF_ONE = 1 << 10
BATCH = 1 << 15


@dataclass(frozen=True)
class Tree:
    """Hold a structure over ``steps``, tiers from the start and tiers that join after a step."""

    name: str
    forest: Forest
    steps: int
    levels: tuple[Fraction, ...]
    joining: Mapping[int, Fraction]
    ways: Callable[[int], Way]

    def outputs(self) -> list[tuple[Fraction, int]]:
        """Return level and step of every output handed out, the most accurate level first."""
        begun = dict.fromkeys(self.levels, 0) | {level: at for at, level in self.joining.items()}
        return [
            (level, step)
            for level in sorted(begun)
            for step in range(begun[level] + 1, self.steps + 1)
        ]

    def covariance(self, mechanism: Mechanism) -> Matrix:
        """Return the covariance over ``outputs``.

        They share nodes, each with the variance of the more accurate level.
        """
        at = self.outputs()
        ways = {step: self.ways(step) for step in range(1, self.steps + 1)}
        found = np.empty((len(at), len(at)))
        for row, (level, step) in enumerate(at):
            for column, (other, later) in enumerate(at):
                shared = set(ways[step]) & set(ways[later])
                found[row, column] = sum(
                    variance(mechanism, ways[step][node] * min(level, other)) for node in shared
                )
        return found


def variance(mechanism: Mechanism, level: Fraction) -> float:
    """Return the variance of one node at ``level``, in units of values."""
    return 2 * float(level) ** 2 if mechanism.parameter == "scale" else float(level)


def kary_way(step: int, k: int, largest: int, weight: Fraction = Fraction(1)) -> Way:
    """Return a node for each unit of each digit, named by the two prefixes that it lies between."""
    digits, rest = [], step
    while rest:
        digit = (rest + (k - 1 - largest)) % k - (k - 1 - largest)
        digits.append(digit)
        rest = (rest - digit) // k
    steps = [
        (1 if digit > 0 else -1) * k**place
        for place, digit in reversed(list(enumerate(digits)))
        for _ in range(abs(digit))
    ]
    ends = [0, *accumulate(steps)]
    return dict.fromkeys(pairwise(ends), weight)


def smooth_way(step: int, height: int, zeros: int) -> Way:
    """Return a node for each one of the pattern after the step's own: the pattern cut off there."""
    ones = height - zeros
    patterns = sorted(sum(1 << bit for bit in bits) for bits in combinations(range(height), ones))
    pattern = patterns[step]
    return {pattern >> bit << bit: Fraction(1) for bit in range(height) if pattern >> bit & 1}


def epoch_way(step: int) -> Way:
    """Return a node of weight 2 for each epoch that is over, and the open one's binary tree."""
    epoch = 1
    way: dict[object, Fraction] = {}
    while step >= (1 << epoch) - 1:
        way["epoch", epoch] = Fraction(2)
        epoch += 1
    inner = kary_way(step - ((1 << (epoch - 1)) - 1), 2, 1, Fraction(2 * (epoch - 1)))
    return way | {(epoch, *node): weight for node, weight in _pairs(inner)}


def _pairs(way: Way) -> Iterator[tuple[tuple[int, int], Fraction]]:
    for node, weight in way.items():
        assert isinstance(node, tuple)
        yield node, weight


BINARY = Tree(
    name="binary",
    forest=binary_tree(15),
    steps=15,
    levels=(Fraction(4), Fraction(1)),
    joining={6: Fraction(2), 10: Fraction(1, 2), 12: Fraction(6)},
    ways=lambda step: kary_way(step, 2, 1),
)
SUBTRACTING = Tree(
    name="5-ary with subtraction",
    forest=KaryTree(12, 5),
    steps=12,
    levels=(Fraction(1), Fraction(5, 2)),
    joining={4: Fraction(8, 5)},
    ways=lambda step: kary_way(step, 5, 2),
)
EVEN = Tree(
    name="4-ary with subtraction",
    forest=KaryTree(14, 4),
    steps=14,
    levels=(Fraction(2), Fraction(5, 2)),
    joining={7: Fraction(3, 4), 8: Fraction(5), 11: Fraction(9, 4)},
    ways=lambda step: kary_way(step, 4, 2),
)
SMOOTH = Tree(
    name="smooth binary",
    forest=balanced(19),
    steps=19,
    levels=(Fraction(4), Fraction(3, 2)),
    joining={5: Fraction(2), 9: Fraction(1, 2), 13: Fraction(6)},
    ways=lambda step: smooth_way(step, 6, 3),
)
EPOCHS = Tree(
    name="epochs",
    forest=Epochs(),
    steps=18,
    levels=(Fraction(4), Fraction(3, 2)),
    joining={6: Fraction(2), 10: Fraction(1, 2), 12: Fraction(6)},
    ways=epoch_way,
)
TREES = (BINARY, SUBTRACTING, EVEN, SMOOTH, EPOCHS)
MECHANISMS: tuple[Mechanism, ...] = (
    Gaussian(Fraction(1, STEPS_OF_ONE)),
    Laplace(Fraction(1, STEPS_OF_ONE)),
)


def batches(
    tree: Tree,
    mechanism: Mechanism,
    count: int,
    forest: Forest | None = None,
    kind: type[NodeNoise] = NodeNoise,
) -> Iterator[Matrix]:
    """Return ``count`` times the noise of all outputs in units of values: shape (outputs, BATCH).

    Values of a batch are elements' coordinates, which are independent.  ``forest`` and
    ``kind`` are what broken variants change.
    """
    streams = keyed_streams(f"trees/{tree.name}/{mechanism.name}")
    place = {output: number for number, output in enumerate(tree.outputs())}
    for _ in range(count):
        noise = kind.begin(mechanism, forest or tree.forest, BATCH, tree.levels)
        found = np.empty((len(place), BATCH))
        for step in range(1, tree.steps + 1):
            drawn = noise.advance(1, streams)
            for level, values in zip(noise.levels, drawn, strict=True):
                found[place[level, step]] = values[0] * float(mechanism.granularity)
            if step in tree.joining:
                noise.insert(tree.joining[step], streams())
        yield found


def summed(samples: Iterator[Matrix]) -> tuple[Matrix, Matrix, int]:
    """Return mean products of outputs, the mean squares of these products, and how many samples."""
    parts = [
        (values @ values.T, np.square(values) @ np.square(values).T, values.shape[1])
        for values in samples
    ]
    products, squares, sizes = zip(*parts, strict=True)
    count = sum(sizes)
    return np.sum(products, axis=0) / count, np.sum(squares, axis=0) / count, count


def best_estimates(covariance: Matrix, at: Sequence[tuple[Fraction, int]], steps: int) -> Matrix:
    """Return the error of each running total under the best unbiased linear estimate: (steps,).

    Every output is its step's running total and noise, so by Gauss and Markov the errors
    are those of generalized least squares.
    """
    of = np.zeros((len(at), steps))
    of[np.arange(len(at)), [step - 1 for _, step in at]] = 1
    information = of.T @ np.linalg.solve(covariance, of)
    return np.asarray(np.diagonal(np.linalg.inv(information)))
