"""Test that buffered noise over time and tiers has the covariance of one noise a step.

Tiers join in the middle of the stream: above, between and below the others.  Of two tiers
outputs share the noise of the more accurate one.  A coalition of all tiers, some of which joined
midway, estimates no running total better than its best member.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg, stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.structures.streams.trees import BATCH, Matrix, best_estimates, summed

from penstock.mechanisms import Gaussian
from penstock.randomness import Stream
from penstock.structures.streams.buffered import joining
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.joining import Integers
from penstock.structures.streams.buffered.noise import BufferedNoise

STEPS, COARSE = 9, 3
MATRIX = encoder(STEPS)
MECHANISM = Gaussian(Fraction(1, 1 << 10))
LEVELS = (Fraction(4), Fraction(1))
JOINING = {3: Fraction(2), 5: Fraction(1, 2), 6: Fraction(7)}
NOISIER = {3: Fraction(2), 6: Fraction(7)}


class Redrawn(BufferedNoise):
    """Draw the noise of a tier that joins for itself."""

    def _lower_part(self, level: Fraction, at: int, stream: Stream) -> Integers:
        own = BufferedNoise.begin(self.mechanism, self.matrix, 0, self.dimension, [level])
        own.advance(self.step, lambda: stream)
        return own._digits(0) - sum((self._digits(number) for number in range(at)), 0)


class Forgetful(BufferedNoise):
    """Keep the total's share alone for a tier that joins, and no buffer."""

    def _lower_part(self, level: Fraction, at: int, stream: Stream) -> Integers:
        own = super()._lower_part(level, at, stream)
        own[:-1] = 0
        return own


def outputs(joined: Mapping[int, Fraction]) -> list[tuple[Fraction, int]]:
    begun = dict.fromkeys(LEVELS, 0) | {level: at for at, level in joined.items()}
    return [(level, step) for level in sorted(begun) for step in range(begun[level] + 1, STEPS + 1)]


def covariance() -> Matrix:
    """Return the covariance of all outputs, from the inverse of ``R`` in floats."""
    weights, kept = np.array(MATRIX.weights, float), np.array(MATRIX.kept, float)
    column = [1.0, *(weights @ kept**power for power in range(STEPS - 1))]
    root = np.tri(STEPS) @ np.linalg.inv(linalg.toeplitz(column, np.zeros(STEPS)))
    shared = root @ root.T
    at = outputs(JOINING)
    return np.array(
        [
            [float(min(level, other)) * shared[step - 1, later - 1] for other, later in at]
            for level, step in at
        ]
    )


def batches(
    count: int,
    kind: type[BufferedNoise] = BufferedNoise,
    joined: Mapping[int, Fraction] = JOINING,
) -> Iterator[Matrix]:
    """Yield ``count`` times the noise of all outputs in units of values: shape (outputs, BATCH)."""
    streams = keyed_streams("buffered")
    place = {output: number for number, output in enumerate(outputs(joined))}
    for _ in range(count):
        noise = kind.begin(MECHANISM, MATRIX, COARSE, BATCH, LEVELS)
        found = np.empty((len(place), BATCH))
        for step in range(1, STEPS + 1):
            drawn = noise.advance(1, streams)
            for level, values in zip(noise.levels, drawn, strict=True):
                found[place[level, step]] = values[0] * 2.0 ** (COARSE - 10)
            if step in joined:
                noise.insert(joined[step], streams())
        yield found


def p_value(samples: Iterator[Matrix]) -> float:
    """Return the least p-value of all pairs of outputs, by Bonferroni."""
    found, squares, count = summed(samples)
    deviations = np.sqrt((squares - found**2) / count)
    pairs = np.triu_indices(len(found))
    scores = (np.abs(found - covariance()) / deviations)[pairs]
    return min(1.0, 2 * float(stats.norm.sf(scores.max())) * len(scores))


def gain(samples: Iterator[Matrix]) -> float:
    """Return the least ratio over running totals of the coalition's error to its best tier's."""
    found, _, _ = summed(samples)
    at = outputs(NOISIER)
    own = [number for number, (level, _) in enumerate(at) if level == min(LEVELS)]
    alone = best_estimates(found[own][:, own], [at[number] for number in own], STEPS)
    return float((best_estimates(found, at, STEPS) / alone).min())


def test_outputs_have_the_covariance_of_one_noise_a_step() -> None:
    accept(p_value(batches(4)), "buffered")


@pytest.mark.parametrize("kind", [Redrawn, Forgetful], ids=lambda kind: kind.__name__)
def test_tiers_that_join_in_a_wrong_way_are_found_out(kind: type[BufferedNoise]) -> None:
    assert rejects(p_value(batches(2, kind)))


def test_a_bridge_with_half_of_its_noise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = joining._normals

    def halved(shape: tuple[int, ...], stream: Stream) -> Integers:
        return drawn(shape, stream) >> 1

    monkeypatch.setattr(joining, "_normals", halved)
    assert rejects(p_value(batches(2)))


def test_all_tiers_tell_no_more_than_the_best_also_where_some_joined() -> None:
    """One batch leaves the ratio short of 1 by 0.2%, and by 1% with a probability below 1e-60."""
    assert 0.99 <= gain(batches(1, joined=NOISIER)) <= 1 + 1e-9


def test_a_tier_that_is_drawn_for_itself_lets_a_coalition_gain() -> None:
    assert gain(batches(1, Redrawn, NOISIER)) < 0.99
