"""Draw the noise of a forest at every tier, step by step.

Each node's noise is its own path of the mechanism's process.  Tiers are points of the path,
coupled exactly as releases of a vector are, and independent of all other nodes.  So the
outputs of a tier have the law of a single stream at its level, and a coalition learns what
its most accurate member does, over the whole stream (Andersson, Retschmeier, Nelson, Pagh
2025, Lemma 5.1, applied node by node).

A tier that is inserted at some step is bridged on the nodes that are still in use, each
between its nearest tiers; all later nodes have it from the start.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.multiple_release import Placed, place, raise_anchor
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.randomness.stream import Stream
from penstock.structures.streams.forest import ROOT, Forest

STEPS_AT_ONCE = 1 << 12
"""The steps whose nodes are drawn together: enough to make draws cheap, bounded in memory."""


class Entry(NamedTuple):
    """Hold a node in use: what it adds at each tier, and the sum down to the root."""

    node: int
    own: tuple[IntVector, ...]
    total: tuple[IntVector, ...]


@dataclass
class NodeNoise:
    """Hold noise in lattice steps; tiers are levels, the most accurate first.

    ``step`` outputs have been given.  ``way`` holds the nodes of the last, from the root on.
    """

    mechanism: Mechanism
    forest: Forest
    dimension: int
    levels: list[Fraction]
    step: int
    way: list[Entry]

    @classmethod
    def begin(
        cls,
        mechanism: Mechanism,
        forest: Forest,
        dimension: int,
        levels: Iterable[Fraction],
        at: int = 0,
    ) -> "NodeNoise":
        """Return the noise before the first output; ``at`` skips steps (for measuring only).

        Raises ``InvalidInput`` without a level, for a level that is not above 0 or is given twice,
        and for a dimension below 1.
        """
        ordered = sorted(levels)
        if not ordered or len(set(ordered)) < len(ordered) or ordered[0] <= 0:
            raise InvalidInput("A stream needs at least one level; levels are above 0 and differ.")
        if dimension < 1:
            raise InvalidInput(f"An element has at least one number, not {dimension}.")
        return cls(mechanism, forest, dimension, ordered, at, [])

    def advance(self, steps: int, streams: Callable[[], Stream]) -> list[IntVector]:
        """Draw the noise of the next ``steps`` outputs: for each level, shape (steps, dimension).

        Raises ``InvalidInput`` beyond the length, before anything is drawn.
        """
        end = self.step + steps
        if steps < 1 or (self.forest.length is not None and end > self.forest.length):
            raise InvalidInput(
                f"The stream has {self.forest.length} steps and is at {self.step}; it cannot"
                f" advance by {steps}."
            )
        noise = [np.empty((steps, self.dimension), dtype=np.int64) for _ in self.levels]
        for start in range(0, steps, STEPS_AT_ONCE):
            self._advance(min(STEPS_AT_ONCE, steps - start), streams, [n[start:] for n in noise])
        return noise

    def insert(self, level: Fraction, stream: Stream) -> None:
        """Add a level, from the next output on; one that exists already stays as it is.

        A level more accurate than all others raises what the stream may lose.
        """
        if level <= 0:
            raise InvalidInput(f"A level is above 0, not {float(level):g}.")
        index = bisect_left(self.levels, level)
        if self.levels[index : index + 1] == [level]:
            return
        drawn = self._bridged(level, index, stream)
        totals = np.zeros(self.dimension, dtype=np.int64)
        way = []
        for entry, own in zip(self.way, drawn, strict=True):
            totals = totals + own
            way.append(
                Entry(
                    entry.node,
                    _with(entry.own, index, own),
                    _with(entry.total, index, totals),
                )
            )
        self.way = way
        self.levels.insert(index, level)

    def totals(self) -> tuple[IntVector, ...]:
        """Return the noise of the last output at each level, shape ``(dimension,)``."""
        if not self.way:
            return tuple(np.zeros(self.dimension, dtype=np.int64) for _ in self.levels)
        return self.way[-1].total

    def _advance(
        self, steps: int, streams: Callable[[], Stream], noise: Sequence[IntVector]
    ) -> None:
        moves = self._moves(steps)
        drawn = self._drawn([node for _, new in moves for node in new], streams)
        for number, (kept, new) in enumerate(moves):
            del self.way[kept:]
            for node in new:
                own = drawn[node]
                total = (
                    tuple(a + b for a, b in zip(self.way[-1].total, own, strict=True))
                    if self.way
                    else own
                )
                self.way.append(Entry(node, own, total))
            for tier, total_at_tier in enumerate(self.way[-1].total):
                noise[tier][number] = total_at_tier
        self.step += steps

    def _moves(self, steps: int) -> list[tuple[int, list[int]]]:
        """Return, for each of the next outputs, how many nodes it keeps and which ones it adds.

        An output shares the upper part of its way with the one before, as each node serves one
        contiguous time; so each new node is visited once.
        """
        way = [entry.node for entry in self.way]
        depth = {node: number for number, node in enumerate(way)}
        moves = []
        for step in range(self.step, self.step + steps):
            node = self.forest.following(step, way[-1]) if way else self.forest.node(step + 1)
            new = []
            while node not in depth and node != ROOT:
                new.append(node)
                node = self.forest.parent(node)
            kept = depth[node] + 1 if node != ROOT else 0
            new.reverse()
            for gone in way[kept:]:
                del depth[gone]
            way[kept:] = new
            depth |= {node: kept + number for number, node in enumerate(new)}
            moves.append((kept, new))
        return moves

    def _drawn(
        self, nodes: list[int], streams: Callable[[], Stream]
    ) -> dict[int, tuple[IntVector, ...]]:
        """Draw the noise of new nodes at every level, from the most accurate on."""
        drawn: dict[int, tuple[IntVector, ...]] = {}
        nodes.sort(key=self.forest.weight)
        for weight, alike in groupby(nodes, key=self.forest.weight):
            group = list(alike)
            stream, before = streams(), Fraction(0)
            noise = np.zeros(len(group) * self.dimension, dtype=np.int64)
            at_levels = []
            for level in self.levels:
                noise = noise + self.mechanism.increment(before, weight * level, noise.size, stream)
                before = weight * level
                at_levels.append(noise.reshape(len(group), self.dimension))
            for number, node in enumerate(group):
                drawn[node] = tuple(at_level[number].copy() for at_level in at_levels)
        return drawn

    def _bridged(self, level: Fraction, tier: int, stream: Stream) -> list[IntVector]:
        """Draw the noise at ``level`` of each node in use, given that at its nearest levels."""
        noise_by_node: dict[int, IntVector] = {}
        nodes = sorted(self.way, key=lambda entry: self.forest.weight(entry.node))
        for weight, alike in groupby(nodes, key=lambda entry: self.forest.weight(entry.node)):
            group = list(alike)

            noisy = self._stored(group, tier, weight)
            if tier > 0:
                accurate = self._stored(group, tier - 1, weight)
                drawn = place(self.mechanism, accurate, noisy, weight * level, stream)
            elif noisy is not None:
                nothing = np.zeros_like(noisy[1])
                drawn = raise_anchor(self.mechanism, nothing, noisy, weight * level, stream)
            parts = drawn.reshape(len(group), self.dimension)
            noise_by_node |= {entry.node: parts[number] for number, entry in enumerate(group)}
        return [noise_by_node[entry.node] for entry in self.way]

    def _stored(self, group: Sequence[Entry], tier: int, weight: Fraction) -> Placed | None:
        """Return the noise of these nodes at one tier, or ``None`` past the noisiest."""
        if tier == len(self.levels):
            return None
        return weight * self.levels[tier], np.concatenate([entry.own[tier] for entry in group])


def _with(vectors: tuple[IntVector, ...], index: int, vector: IntVector) -> tuple[IntVector, ...]:
    return (*vectors[:index], vector, *vectors[index:])
