"""Test streams' claims if whoever chooses each element has read all outputs so far."""

from hashlib import sha256

import numpy as np
import pytest

from penstock.randomness import Stream
from penstock.structures import Epochs, Forest, KaryTree, balanced, binary_tree
from penstock.structures.streams.forest import chain, matrices

LOSSLESS: list[Forest] = [
    binary_tree(13), KaryTree(13, 3), KaryTree(12, 5), KaryTree(10, 4), Epochs(),
]  # fmt: skip
ALL: list[Forest] = [*LOSSLESS, KaryTree(20, 3), KaryTree(30, 4), balanced(19), Epochs(5)]


def _weights(forest: Forest, steps: int) -> np.ndarray:
    nodes = {node for step in range(1, steps + 1) for node in chain(forest, forest.node(step))}
    return np.array([float(forest.weight(node)) for node in sorted(nodes)])


def _steps(forest: Forest) -> int:
    return forest.length or 15


@pytest.mark.parametrize("forest", LOSSLESS, ids=str)
def test_outputs_of_any_adaptive_stream_are_pure_at_every_point(forest: Forest) -> None:
    """Outputs determine noises, so that their density is that of the noises they need."""
    steps = _steps(forest)
    assert forest.lossless
    noise = Stream.from_key(sha256(b"adaptive streams").digest()).generator
    decoder, _ = matrices(forest, steps)
    inverse = np.linalg.inv(decoder)
    scales = _weights(forest, steps) * float(forest.column_l1)
    largest = 0.0
    for _ in range(500):
        outputs = noise.normal(size=steps) * 4
        chooser = np.tril(noise.normal(size=(steps, steps)), -1)
        elements = np.tanh(chooser @ outputs)
        changed = elements.copy()
        changed[noise.integers(steps)] += noise.choice([-1.0, 1.0])
        needed = [inverse @ (outputs - np.cumsum(each)) for each in (elements, changed)]
        densities = [-(np.abs(each) / scales).sum() for each in needed]
        largest = max(largest, abs(densities[0] - densities[1]))
    assert 0.5 < largest <= 1 + 1e-9


@pytest.mark.parametrize("forest", ALL, ids=str)
def test_gaussian_outputs_are_those_of_a_mechanism_that_looks_at_the_past_alone(
    forest: Forest,
) -> None:
    """``L W L^T = C C^T`` with ``C`` lower triangular: an element moves ``C^-1 A x`` no farther."""
    steps = _steps(forest)
    decoder, _ = matrices(forest, steps)
    past = np.linalg.cholesky(decoder @ np.diag(_weights(forest, steps)) @ decoder.T)
    moved = np.linalg.solve(past, np.tril(np.ones((steps, steps))))
    assert np.abs(np.triu(moved, 1)).max() < 1e-9
    assert np.square(moved).sum(axis=0).max() <= float(forest.column_l2_squared) + 1e-9
