"""Test the noise of a stream's nodes: drawn once, added along ways, bridged where tiers join."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from tests.unit.structures.noisy_forests import FORESTS, LEVELS, MECHANISM, advance

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, IntVector
from penstock.randomness import Stream
from penstock.structures import Forest, KaryTree, NodeNoise, binary_tree
from penstock.structures.streams.forest import chain
from penstock.structures.streams.node_noise import STEPS_AT_ONCE


class _Recorded:
    """Remember each node's noise, so that outputs can be added up again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.own: dict[int, tuple[IntVector, ...]] = {}
        drawn = NodeNoise._drawn

        def record(
            inner: NodeNoise, nodes: list[int], streams: Callable[[], Stream]
        ) -> dict[int, tuple[IntVector, ...]]:
            assert not set(nodes) & set(self.own), "a node is drawn a second time"
            found = drawn(inner, nodes, streams)
            self.own |= found
            return found

        monkeypatch.setattr(NodeNoise, "_drawn", record)


@pytest.mark.parametrize("pieces", [[150], [1] * 150, [3, 1, 90, 56]], ids=len)
@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_every_output_is_the_sum_over_its_way(
    forest: Forest,
    pieces: list[int],
    streams: Callable[[], Stream],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noise = NodeNoise.begin(MECHANISM, forest, 2, LEVELS)
    record = _Recorded(monkeypatch)
    left = min(150, forest.length or 150)
    found = []
    for piece in pieces:
        if piece := min(piece, left):
            found.append(advance(noise, piece, streams))
            left -= piece
    outputs = np.concatenate(found, axis=1)
    for step in range(1, outputs.shape[1] + 1):
        ways = [record.own[node] for node in chain(forest, forest.node(step))]
        assert (outputs[:, step - 1] == np.sum(np.array(ways), axis=0)).all()
    assert all((noise.totals()[tier] == outputs[tier, -1]).all() for tier in range(2))


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_a_step_costs_two_nodes_at_most_on_average(
    forest: Forest, streams: Callable[[], Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = NodeNoise.begin(MECHANISM, forest, 1, LEVELS)
    record = _Recorded(monkeypatch)
    steps = min(forest.length or 127, 127)
    noise.advance(steps, streams)
    assert len(record.own) <= 2 * (steps + 1)
    if isinstance(forest, KaryTree) and forest.lossless and forest.length == steps:
        assert len(record.own) == steps


@dataclass(frozen=True)
class _Counted(Gaussian):
    """Count the numbers that it draws."""

    drawn: ClassVar[list[int]] = []

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        self.drawn.append(size)
        return super().increment(accurate, noisy, size, stream)


@pytest.mark.parametrize("tiers", [1, 3])
@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_a_step_draws_two_numbers_a_tier_and_coordinate_at_most(
    forest: Forest, tiers: int, streams: Callable[[], Stream]
) -> None:
    levels = [Fraction(4) ** tier for tier in range(tiers)]
    noise = NodeNoise.begin(_Counted(Fraction(1, 1024)), forest, 2, levels)
    steps = min(forest.length or 127, 127)
    _Counted.drawn.clear()
    for _ in range(steps):
        noise.advance(1, streams)
    assert steps * tiers * 2 <= sum(_Counted.drawn) <= 2 * (steps + 1) * tiers * 2


def test_the_state_holds_no_more_nodes_than_the_digits_of_a_step(
    streams: Callable[[], Stream],
) -> None:
    for tree, most in ((KaryTree(62, 5), 6), (KaryTree(180, 19), 18), (KaryTree(3429, 19), 27)):
        noise = NodeNoise.begin(MECHANISM, tree, 1, [Fraction(1)])
        held = []
        for _ in range(tree.length):
            noise.advance(1, streams)
            held.append(len(noise.way))
        assert max(held) == most


def test_long_pieces_are_drawn_in_bounded_ones(streams: Callable[[], Stream]) -> None:
    noise = NodeNoise.begin(MECHANISM, binary_tree(1 << 14), 1, [Fraction(1)])
    outputs = advance(noise, 2 * STEPS_AT_ONCE + 5, streams)
    assert outputs.shape == (1, 2 * STEPS_AT_ONCE + 5, 1)
    assert noise.step == 2 * STEPS_AT_ONCE + 5
    first, second = (outputs[0, start : start + STEPS_AT_ONCE] for start in (0, STEPS_AT_ONCE))
    assert (first != second).mean() > 0.9


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_a_tier_that_joins_lies_between_its_neighbors(
    forest: Forest, streams: Callable[[], Stream]
) -> None:
    noise = NodeNoise.begin(MECHANISM, forest, 1, LEVELS)
    noise.advance(37, streams)
    before = [entry.own for entry in noise.way]
    for level in (Fraction(2), Fraction(1, 2), Fraction(9)):
        noise.insert(level, streams())
    assert noise.levels == [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(9)]
    for entry, (first, second) in zip(noise.way, before, strict=True):
        assert (entry.own[1], entry.own[3]) == (first, second)
    total = np.sum([entry.own for entry in noise.way], axis=0)
    assert (np.array(noise.totals()) == total).all()
    again = [entry.own for entry in noise.way]
    noise.insert(Fraction(2), streams())
    assert [entry.own for entry in noise.way] == again
    assert advance(noise, 10, streams).shape == (5, 10, 1)


def test_a_tier_may_join_before_the_first_step(streams: Callable[[], Stream]) -> None:
    noise = NodeNoise.begin(MECHANISM, binary_tree(10), 1, [Fraction(1)])
    noise.insert(Fraction(2), streams())
    assert advance(noise, 3, streams).shape == (2, 3, 1)


def test_impossible_streams_and_steps_are_refused(streams: Callable[[], Stream]) -> None:
    tree = binary_tree(5)
    for levels in ([], [Fraction(1), Fraction(1)], [Fraction(0)]):
        with pytest.raises(InvalidInput):
            NodeNoise.begin(MECHANISM, tree, 1, levels)
    with pytest.raises(InvalidInput):
        NodeNoise.begin(MECHANISM, tree, 0, LEVELS)
    noise = NodeNoise.begin(Gaussian(Fraction(1, 1024)), tree, 1, LEVELS)
    noise.advance(3, streams)
    for steps in (0, 3):
        with pytest.raises(InvalidInput, match="it cannot advance by"):
            noise.advance(steps, streams)
    with pytest.raises(InvalidInput, match="above 0"):
        noise.insert(Fraction(0), streams())
    assert noise.step == 3
    noise.advance(2, streams)
