"""Test what every noise process has in common, whatever its law."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.poisson.process import Poisson
from penstock.mechanisms.process import Mechanism, Whole
from penstock.mechanisms.skellam.process import Skellam
from penstock.randomness import Stream


def test_noise_that_is_one_number_a_value_resolves_to_itself_and_draws_nothing() -> None:
    noise, stream = np.array([3, -1, 0]), Stream.from_key(bytes(32))
    assert Whole().resolve(noise, Fraction(4), stream) is noise
    untouched = Stream.from_key(bytes(32))
    assert stream.raw_uint64(4).tolist() == untouched.raw_uint64(4).tolist()


@pytest.mark.parametrize("kind", [Gaussian, Laplace, Poisson, Skellam])
def test_increments_and_bridges_have_all_parts_of_every_value(kind: type[Mechanism]) -> None:
    mechanism, stream = kind(Fraction(1, 1024)), Stream.from_key(bytes(32))
    difference = mechanism.increment(Fraction(64), Fraction(256), 5, stream)
    assert difference.shape == (5 * kind.parts,)
    bridged = mechanism.bridge(Fraction(64), Fraction(256), difference, Fraction(128), stream)
    assert bridged.shape == (5 * kind.parts,)
