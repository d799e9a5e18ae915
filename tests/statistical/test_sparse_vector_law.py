"""What searches find, drawn, against their exact law."""

import numpy as np
import pytest
from tests.statistical.checks import accept, chi_squared, rejects
from tests.statistical.paths import keyed_streams
from tests.statistical.searches import BROKEN, broken, law_of

from penstock.mechanisms.sparse_vector import SparseVector

SEARCH = SparseVector.of(2, 4, 2, 3)
VALUES = (-3, 5, 0, 9, -8)
RUNS = 15_000


def _fits(drawn: SparseVector, label: str) -> float:
    """P-value of what ``drawn`` finds being what ``SEARCH`` should."""
    law = law_of(SEARCH, VALUES)
    stream, values = keyed_streams(label)(), np.array(VALUES)
    counts = dict.fromkeys(law, 0)
    others = 0
    for _ in range(RUNS):
        places = tuple(drawn.above(values, stream).tolist())
        if places in counts:
            counts[places] += 1
        else:
            others += 1
    observed = np.array([*counts.values(), others])
    return chi_squared(observed, np.array([*law.values(), 0.0]) * RUNS)


def test_what_is_found_follows_its_exact_law() -> None:
    accept(_fits(SEARCH, "search"), "sparse vector")


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_searches_find_other_things(kind: type[SparseVector]) -> None:
    assert rejects(_fits(broken(kind, SEARCH), f"broken search/{kind.__name__}"))
