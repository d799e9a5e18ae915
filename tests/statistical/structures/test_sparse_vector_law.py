"""Test what searches find, drawn, against their exact law."""

from functools import cache

import numpy as np
import pytest
from tests.statistical.checks import accept, chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import every_size, sample_size
from tests.statistical.structures.searches import BROKEN, broken, law_of

from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector

SEARCH = SparseVector.of(2, 4, 2, 3)
VALUES = (-3, 5, 0, 9, -8)
LARGE = 15_000


@cache
def _runs() -> int:
    """Return so many runs that no broken search slips through, by exact laws of what they find."""
    right = law_of(SEARCH, VALUES)
    sizes = []
    for kind in BROKEN:
        wrong = law_of(broken(kind, SEARCH), VALUES)
        masses = np.array([wrong.get(places, 0.0) for places in right])
        sizes.append(sample_size(np.array(list(right.values())), masses))
    return max(sizes)


def _fits(drawn: SparseVector, label: str, *, large: bool) -> float:
    """Return the P-value of what ``drawn`` finds being what ``SEARCH`` should."""
    law = law_of(SEARCH, VALUES)
    stream, values = keyed_streams(label)(), np.array(VALUES)
    counts = dict.fromkeys(law, 0)
    runs = LARGE if large else _runs()
    others = 0
    for _ in range(runs):
        places = tuple(drawn.above(values, stream).tolist())
        if places in counts:
            counts[places] += 1
        else:
            others += 1
    observed = np.array([*counts.values(), others])
    return chi_squared(observed, np.array([*law.values(), 0.0]) * runs)


@every_size
def test_what_is_found_follows_its_exact_law(*, large: bool) -> None:
    accept(_fits(SEARCH, "search", large=large), "sparse vector")


@every_size
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_searches_find_other_things(kind: type[SparseVector], *, large: bool) -> None:
    drawn = broken(kind, SEARCH)
    assert rejects(_fits(drawn, f"broken search/{kind.__name__}", large=large))
