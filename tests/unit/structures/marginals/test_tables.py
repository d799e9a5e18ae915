"""Test that marginals are computed back, agree to the last digit, and have their variance."""

import itertools

import numpy as np
import pytest

from penstock.randomness.stream import Stream
from penstock.structures.marginals.lattice import Marginals, up_to
from penstock.structures.marginals.tables import Tables, counted, reconstructed

TABLES = Marginals((3, 2, 4), up_to(3, 3))
NOISE = 500.0


def rows(marginals: Marginals, number: int) -> list[np.ndarray]:
    generator = Stream.from_key(bytes(32)).generator
    return [generator.integers(0, size, number) for size in marginals.sizes]


def exact(marginals: Marginals, number: int = 1000) -> np.ndarray:
    return counted(marginals, rows(marginals, number), np.ones(number, dtype=np.int64))


def agree(tables: Tables) -> bool:
    return all(
        (
            table.sum(axis=tuple(at for at, column in enumerate(larger) if column not in smaller))
            == tables[smaller]
        ).all()
        for larger, table in tables.items()
        for smaller in tables
        if set(smaller) <= set(larger)
    )


def test_without_noise_marginals_are_the_counts() -> None:
    places = rows(TABLES, 1000)
    tables = reconstructed(TABLES, exact(TABLES).astype(float))
    assert set(tables) == set(TABLES.protected)
    for columns, table in tables.items():
        for keys in itertools.product(*map(range, table.shape)):
            pairs = zip(columns, keys, strict=True)
            inside = np.logical_and.reduce([places[c] == key for c, key in pairs], initial=True)
            assert table[keys] == pytest.approx(np.broadcast_to(inside, 1000).sum(), abs=1e-6)


@pytest.mark.parametrize("noise", [0.001, NOISE, 1e9, 1e15])
def test_noisy_marginals_agree_to_the_last_digit(noise: float) -> None:
    generator = Stream.from_key(bytes(31) + b"1").generator
    noisy = exact(TABLES) + generator.normal(0, noise, TABLES.dimension)
    tables = reconstructed(TABLES, noisy)
    assert agree(tables)
    # In doubles alone they would not.
    assert not agree({each: table + 1 / 3 for each, table in tables.items()})


def test_marginals_have_the_variance_that_is_stated() -> None:
    """Of 24 variances the largest is off by six standard errors once in 10^7 times."""
    draws = 1000
    generator = Stream.from_key(bytes(31) + b"2").generator
    noises = generator.normal(0, NOISE, (draws, TABLES.dimension))
    drawn = [reconstructed(TABLES, noise) for noise in noises]
    for larger in TABLES.sets:
        found = np.array([tables[larger].ravel() for tables in drawn]).var(axis=0)
        stated = float(TABLES.variance(larger)) * NOISE**2
        assert (abs(found / stated - 1) < 6 * np.sqrt(2 / draws)).all()
        broken = float(TABLES.variance(larger) * TABLES.cells(larger)) * NOISE**2
        assert not (abs(found / broken - 1) < 6 * np.sqrt(2 / draws)).any()


def test_the_part_of_the_noise_that_is_no_residual_does_not_show() -> None:
    marginals = Marginals((3, 2), up_to(2, 2))
    noisy = exact(marginals).astype(float)
    shifted = noisy + np.where(np.arange(marginals.dimension) > 0, 1000, 0)
    plain, moved = reconstructed(marginals, noisy), reconstructed(marginals, shifted)
    assert all(np.allclose(plain[each], moved[each], atol=1e-5) for each in plain)


def test_a_million_cells_need_no_matrix_and_large_counts_saturate() -> None:
    marginals = Marginals((1000, 1000), ((0, 1),))
    tables = reconstructed(marginals, exact(marginals, 100_000).astype(float))
    assert tables[()] == pytest.approx(100_000, abs=1e-4)
    assert agree(tables)
    huge = counted(TABLES, [np.array([0])] * 3, np.array([2**60]))
    assert huge.max() == 2**62
