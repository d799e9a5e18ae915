"""Test binomial draws with trials of their own: edges, ranges, and the way small means go."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.randomness import Stream, rejection
from penstock.randomness.binomial import MOST_TRIALS, binomial
from penstock.randomness.geometric import Geometric


def _trials(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@given(
    trials=st.lists(st.integers(0, 1 << 53), max_size=20),
    chance=st.fractions(min_value=0, max_value=1),
    key=st.binary(min_size=32, max_size=32),
)
def test_successes_are_within_their_trials(trials: list[int], chance: Fraction, key: bytes) -> None:
    n = _trials(*trials)
    drawn = binomial(n, chance, Stream.from_key(key))
    assert drawn.shape == n.shape
    assert ((drawn >= 0) & (drawn <= n)).all()


def test_sure_and_impossible_successes_are_so(stream: Stream) -> None:
    n = _trials(0, 1, 5, 1 << 40)
    assert (binomial(n, Fraction(1), stream) == n).all()
    assert not binomial(n, Fraction(0), stream).any()


def test_no_trials_have_no_successes(stream: Stream) -> None:
    assert not binomial(np.zeros(1_000, dtype=np.int64), Fraction(1, 3), stream).any()


@pytest.mark.parametrize("n", [1, 7, 60, 1_000, 10**6, 1 << 50])
@pytest.mark.parametrize(
    "chance", [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2), Fraction(5, 6)]
)
def test_draws_have_the_moments_of_the_law(n: int, chance: Fraction, stream: Stream) -> None:
    size = 40_000
    drawn = binomial(np.full(size, n, dtype=np.int64), chance, stream)
    variance = float(n * chance * (1 - chance))
    assert abs(drawn.mean() - float(n * chance)) < 6 * (variance / size) ** 0.5
    assert drawn.var() == pytest.approx(variance, rel=0.35 if variance < 1 else 0.06)


def test_small_and_large_trials_go_together_in_one_vector(stream: Stream) -> None:
    n = np.tile(_trials(0, 3, 40, 100_000), 20_000)
    means = binomial(n, Fraction(1, 4), stream).reshape(-1, 4).mean(axis=0)
    assert means == pytest.approx([0, 0.75, 10, 25_000], rel=0.03)


def test_waiting_times_count_the_successes_within_the_trials(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    gaps = iter([0, 1, 3, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])

    def scripted(_: Geometric, size: int, __: Stream) -> np.ndarray:
        return np.array([next(gaps) for _ in range(size)], dtype=np.int64)

    monkeypatch.setattr(Geometric, "draw", scripted)
    # Successes at trials 1, 3, 7 and 17: the last is beyond the ten there are.
    assert binomial(_trials(10), Fraction(1, 5), stream).tolist() == [3]


@pytest.mark.parametrize("n", [1_000, 10**9, 10**13 + 7, 1 << 53])
@pytest.mark.parametrize("chance", [Fraction(1, 7), Fraction(1, 2) - Fraction(1, 3**30)])
def test_probabilities_of_every_number_of_trials_are_right_to_1e_13(
    n: int, chance: Fraction, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means beyond 2^40 have fractions that a float leaves out."""
    asked: list[rejection.LogPmf] = []

    def kept(_: rejection.TransformedRejection, log_pmf: rejection.LogPmf) -> np.ndarray:
        asked.append(log_pmf)
        return _trials(0)

    monkeypatch.setattr(rejection.TransformedRejection, "draw", kept)
    binomial(_trials(n), chance, stream)
    deviation = float(n * chance * (1 - chance)) ** 0.5
    offsets = [round(part * deviation) for part in (-7, -1, 0, 2.5, 7)]
    values = np.array([int(n * chance) + offset for offset in offsets], dtype=np.int64)
    found = asked[0](values, np.zeros(len(values), dtype=np.int64))
    with mpmath.workdps(60):
        hit = mpmath.mpf(chance.numerator) / chance.denominator
        for value, log in zip(values.tolist(), found.tolist(), strict=True):
            exact = mpmath.loggamma(n + 1) - mpmath.loggamma(value + 1)
            exact += value * mpmath.log(hit) + (n - value) * mpmath.log(1 - hit)
            exact -= mpmath.loggamma(n - value + 1)
            assert abs(exact - mpmath.mpf(log)) < 1e-13


@pytest.mark.parametrize("chance", [Fraction(-1, 10), Fraction(11, 10)])
def test_chances_that_are_none_are_refused(chance: Fraction, stream: Stream) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        binomial(_trials(1), chance, stream)


@pytest.mark.parametrize("n", [-1, MOST_TRIALS + 1])
def test_trials_that_are_none_are_refused(n: int, stream: Stream) -> None:
    with pytest.raises(InvalidInput, match=r"from 0 to 2\^53"):
        binomial(_trials(4, n), Fraction(1, 2), stream)
