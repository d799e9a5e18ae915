"""Test uniform integers and sets of them."""

from hashlib import sha256

import numpy as np
import pytest
from scipy.stats import chisquare

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.randomness.choice import distinct_below, uniform_below


def stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


def test_every_integer_up_to_its_bound_is_equally_likely() -> None:
    found = uniform_below(np.full(60_000, 5, dtype=np.uint64), stream("six"))
    assert chisquare(np.bincount(found.astype(np.int64), minlength=6)).pvalue > 1e-6


def test_bounds_of_0_and_of_all_bits_are_kept() -> None:
    bounds = np.array([0, 2**64 - 1, 1, 2**63], dtype=np.uint64)
    for number in range(50):
        found = uniform_below(bounds, stream(str(number)))
        assert (found <= bounds).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_set_is_equally_likely(size: int) -> None:
    source = stream(f"sets {size}")
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(4_000):
        found = distinct_below(5, size, source)
        assert (np.diff(found.astype(np.int64)) > 0).all()
        key = tuple(found.tolist())
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == [5, 10, 10, 5][size - 1]
    assert chisquare(list(seen.values())).pvalue > 1e-6


def test_sets_reach_from_none_to_all_and_over_64_bits() -> None:
    assert distinct_below(7, 0, stream("none")).tolist() == []
    assert distinct_below(7, 7, stream("all")).tolist() == list(range(7))
    assert len(set(distinct_below(1 << 64, 1_000, stream("huge")).tolist())) == 1_000
    for bound, size in ((3, 4), ((1 << 64) + 1, 1)):
        with pytest.raises(InvalidInput):
            distinct_below(bound, size, stream("no"))
