"""Test that outputs of the square root over time and tiers have the covariance of one noise a node.

Tiers join in the middle of the stream: above, between and below the others.  Of two tiers
outputs share the noise of the more accurate one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg, stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.structures.streams.trees import BATCH, Matrix, summed

from penstock.mechanisms import Gaussian, IntVector
from penstock.randomness import Stream
from penstock.structures.factorization.square_root import coefficients
from penstock.structures.streams import root_noise
from penstock.structures.streams.root_noise import RootNoise

STEPS, COARSE = 9, 3
MECHANISM = Gaussian(Fraction(1, 1 << 10))
LEVELS = (Fraction(4), Fraction(1))
JOINING = {3: Fraction(2), 5: Fraction(1, 2), 6: Fraction(7)}


@dataclass
class Redrawn(RootNoise):
    """Draw all noise of a tier that joins for itself."""

    def _bridged(self, level: Fraction, at: int, stream: Stream) -> IntVector:  # noqa: ARG002 - it asks no neighbor
        return self.mechanism.increment(Fraction(0), level, self.drawn[0].size, stream)


@dataclass
class Forgetful(RootNoise):
    """Keep nothing of the steps before for a tier that joins."""

    def _bridged(self, level: Fraction, at: int, stream: Stream) -> IntVector:  # noqa: ARG002 - it draws nothing
        return np.zeros(self.drawn[0].size, dtype=np.int64)


def outputs() -> list[tuple[Fraction, int]]:
    begun = dict.fromkeys(LEVELS, 0) | {level: at for at, level in JOINING.items()}
    return [(level, step) for level in sorted(begun) for step in range(begun[level] + 1, STEPS + 1)]


def covariance() -> Matrix:
    root = linalg.toeplitz(coefficients(STEPS), np.zeros(STEPS))
    shared = root @ root.T
    at = outputs()
    return np.array(
        [
            [float(min(level, other)) * shared[step - 1, later - 1] for other, later in at]
            for level, step in at
        ]
    )


def batches(count: int, kind: type[RootNoise] = RootNoise) -> Iterator[Matrix]:
    """Yield ``count`` times the noise of all outputs in units of values: shape (outputs, BATCH)."""
    streams = keyed_streams("square root")
    place = {output: number for number, output in enumerate(outputs())}
    for _ in range(count):
        noise = kind.begin(MECHANISM, STEPS, COARSE, BATCH, LEVELS)
        found = np.empty((len(place), BATCH))
        for step in range(1, STEPS + 1):
            drawn = noise.advance(1, streams)
            for level, values in zip(noise.levels, drawn, strict=True):
                found[place[level, step]] = values[0] * 2.0 ** (COARSE - 10)
            if step in JOINING:
                noise.insert(JOINING[step], streams())
        yield found


def p_value(samples: Iterator[Matrix]) -> float:
    """Return the least p-value of all pairs of outputs, by Bonferroni."""
    found, squares, count = summed(samples)
    deviations = np.sqrt((squares - found**2) / count)
    pairs = np.triu_indices(len(found))
    scores = (np.abs(found - covariance()) / deviations)[pairs]
    return min(1.0, 2 * float(stats.norm.sf(scores.max())) * len(scores))


def test_outputs_have_the_covariance_of_shared_nodes() -> None:
    accept(p_value(batches(8)), "square root")


@pytest.mark.parametrize("kind", [Redrawn, Forgetful], ids=lambda kind: kind.__name__)
def test_tiers_that_join_in_a_wrong_way_are_found_out(kind: type[RootNoise]) -> None:
    assert rejects(p_value(batches(2, kind)))


def test_a_decoder_that_is_off_by_one_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(length: int) -> Matrix:
        return np.concatenate([[1.0], coefficients(length)])[:length]

    monkeypatch.setattr(root_noise, "float_decoder", shifted)
    assert rejects(p_value(batches(2)))
