"""Test that counts read with a released size are within their intervals, and broken ones not."""

import json
import math
from fractions import Fraction
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.mechanisms import Gaussian, Laplace, Mechanism
from penstock.privacy import Ladder, Sensitivity
from penstock.randomness import Stream
from penstock.services.noise.estimates import sized_counts
from penstock.services.noise.estimates.sized_counts import Shown, with_size
from penstock.services.noise.kinds.correlated_counts import CorrelatedKind
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.schemas.views import ReleaseView
from penstock.structures.counts import Centered

DRAWS = 40_000
MEMBERS, DECLARED, COUNT = 1000, 900, 400
UNIT = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
LADDER = Ladder(400, Fraction(1), 10)
NODES = Gaussian(Fraction(1, 64))
COUNTS = CorrelatedKind(NODES, LADDER, UNIT, Centered(1, Fraction(DECLARED)))
RARE = 6
"""Standard deviations that a share of misses is off with a chance of 2e-9."""


def row(**aggregate: object) -> Any:
    spec = {"aggregate": {"type": "count_units", **aggregate}}
    return SimpleNamespace(name="a", spec=json.dumps(spec), dimension=1, dataset_id=1)


def shown(kind: QueryKind, query: Any, values: NDArray[np.float64]) -> Shown:
    parts: dict[str, Any] = dict.fromkeys(ReleaseView.__dataclass_fields__)
    return Shown(query, 0, ReleaseView(**{**parts, "values": values, "error": kind.error(0)}))


def noise(mechanism: Mechanism, label: str) -> NDArray[np.float64]:
    stream = Stream.from_key(sha256(label.encode()).digest())
    drawn = mechanism.increment(Fraction(0), LADDER.value(0), DRAWS, stream)
    return drawn.astype(np.float64) * np.float64(mechanism.granularity)


@pytest.mark.parametrize("other", [Gaussian(Fraction(1, 64)), Laplace(Fraction(1, 64))])
def test_intervals_hold_counts_with_the_noise_of_both(
    other: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_kind = VectorKind(other, LADDER, UNIT)
    counts, size = row(columns=["smokes"]), row()
    kinds = {id(counts): COUNTS, id(size): size_kind}
    monkeypatch.setattr(sized_counts, "kind_of", lambda query: kinds[id(query)])
    sums = 2 * COUNT - MEMBERS + noise(NODES, "nodes")
    sizes = MEMBERS + noise(other, "sizes")
    own = shown(COUNTS, counts, (sums[:1] + DECLARED) / 2)
    view = with_size(own, shown(size_kind, size, sizes[:1]))
    estimates = (sums + sizes) / 2
    assert view.values == pytest.approx(estimates[:1])
    assert estimates.std() == pytest.approx(view.error.standard_deviation, rel=0.03)
    missed = np.abs(estimates - COUNT) > view.error.half_width
    allowed = 1 - view.error.confidence
    slack = RARE * math.sqrt(allowed * (1 - allowed) / DRAWS)
    assert missed.mean() <= allowed + slack
    # Without the error of the size, which is left out in a broken interval, it misses more.
    broken = np.abs(estimates - COUNT) > own.view.error.half_width
    assert broken.mean() > allowed + slack
