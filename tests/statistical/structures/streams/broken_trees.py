"""Provide streams of noise that are wrong in one way each, which the tests must find out."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from tests.statistical.broken import altered
from tests.statistical.structures.streams.trees import BINARY, EPOCHS, EVEN, SMOOTH, SUBTRACTING

from penstock.mechanisms import IntVector, Mechanism
from penstock.randomness import Stream
from penstock.structures import Epochs, Forest, KaryTree, NodeNoise, SmoothBinary
from penstock.structures.streams.forest import ROOT


@dataclass
class Redrawn(NodeNoise):
    """Let a tier that joins draw the nodes in use for itself."""

    def _bridged(self, level: Fraction, tier: int, stream: Stream) -> list[IntVector]:  # noqa: ARG002 - it asks no neighbor
        nothing = Fraction(0)
        return [
            self.mechanism.increment(
                nothing, self.forest.weight(entry.node) * level, self.dimension, stream
            )
            for entry in self.way
        ]


@dataclass
class AllRedrawn(NodeNoise):
    """Draw the nodes in use again for all tiers when a tier joins."""

    def insert(self, level: Fraction, stream: Stream) -> None:
        super().insert(level, stream)
        self.way = []


@dataclass
class Unbridged(NodeNoise):
    """Let a tier that joins be as its more accurate neighbor says, and ask no other."""

    def _bridged(self, level: Fraction, tier: int, stream: Stream) -> list[IntVector]:
        accurate = self.levels[tier - 1] if tier else Fraction(0)
        found = []
        for entry in self.way:
            weight = self.forest.weight(entry.node)
            more = self.mechanism.increment(
                weight * accurate, weight * level, self.dimension, stream
            )
            found.append(entry.own[tier - 1] + more if tier else more)
        return found


class OffByOne(KaryTree):
    """Take a parent one node too early, or leave it out where it comes later."""

    def parent(self, node: int) -> int:
        right = super().parent(node)
        return max(right - 1, ROOT) if right < node else super().parent(right)


class SmoothOffByOne(SmoothBinary):
    """Take the node above as the parent."""

    def parent(self, node: int) -> int:
        return super().parent(super().parent(node))


class EpochsOffByOne(Epochs):
    """Take a parent within an epoch one node too early."""

    def parent(self, node: int) -> int:
        right = super().parent(node)
        return right - 1 if self.weight(right) != Fraction(2) else right


OFF_BY_ONE: Mapping[str, Forest] = {
    BINARY.name: OffByOne(15, 2, subtracting=False),
    SUBTRACTING.name: OffByOne(12, 5),
    EVEN.name: OffByOne(14, 4),
    SMOOTH.name: SmoothOffByOne(19, 6, 3),
    EPOCHS.name: EpochsOffByOne(),
}


def variance_as_deviation(mechanism: Mechanism) -> Mechanism:
    """Return Gaussian noise whose deviation is its variance."""
    return altered(
        mechanism,
        increment=lambda own, accurate, noisy, size, stream: own.increment(
            accurate**2, noisy**2, size, stream
        ),
        bridge=lambda own, accurate, noisy, difference, level, stream: own.bridge(
            accurate**2, noisy**2, difference, level**2, stream
        ),
    )


@dataclass
class Normalized(NodeNoise):
    """Give a tier that joins the right covariances, and normal noise whatever the mechanism."""

    def _bridged(self, level: Fraction, tier: int, stream: Stream) -> list[IntVector]:
        steps = float(self.mechanism.granularity)
        low = float(self.levels[tier - 1]) ** 2 if tier else 0.0
        high, at = float(self.levels[tier]) ** 2, float(level) ** 2
        share = (at - low) / (high - low)
        spread = np.sqrt(2 * share * (high - at)) / steps
        found = []
        for entry in self.way:
            start = entry.own[tier - 1] if tier else np.zeros(self.dimension, dtype=np.int64)
            middle = start + share * (entry.own[tier] - start)
            drawn = middle + spread * stream.generator.standard_normal(self.dimension)
            found.append(np.rint(drawn).astype(np.int64))
        return found
