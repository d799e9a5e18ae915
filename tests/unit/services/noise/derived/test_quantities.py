"""Test quantities of releases: how often intervals cover, and that the client computes the same."""

import math
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.services.noise.derived.released import (
    DEVIATION,
    NORMAL,
    grouped,
    read,
    release_of,
    tables,
)

from penstock.errors import Conflict, InvalidInput
from penstock.randomness import Stream
from penstock.services.noise.derived import quantities
from penstock.services.noise.derived.quantities import (
    AS_STATED,
    CONSERVATIVE,
    EXACT,
    Derived,
    combination,
    combined,
    fieller,
    has_parts,
    ratio,
    share,
)
from penstock.services.schemas.views import ErrorView, ReleaseView
from penstock_client import InvalidArgument
from penstock_client import derived as client

RELEASES = {
    "one error": release_of(100.0, 20.0, 3.0, 4.0),
    "noise of steps": release_of(100.0, 20.0, 3.0, mechanism="laplace", granularity=8.0),
    "groups": grouped(),
    "marginals": tables()[0],
}


def weights_of(view: ReleaseView, places: Sequence[int]) -> NDArray[np.float64]:
    weights = np.zeros(len(view.values))
    weights[list(places)] = 1.0
    return weights


def assert_same(ours: Derived, theirs: client.Derived) -> None:
    for name in ("value", "standard_deviation", "lower", "upper", "confidence"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", RELEASES)
def test_the_client_computes_the_same_of_the_same_release(name: str) -> None:
    view = RELEASES[name]
    release, one, more = read(view), weights_of(view, [1]), weights_of(view, [0, 2])
    keys = release.keys
    pairs = [
        (combination(view, one + more), client.total(release, keys[:3])),
        (combination(view, one), client.total(release, [keys[1]])),
        (combination(view, np.ones(len(keys))), client.total(release, keys)),
        (combination(view, one - weights_of(view, [0])), client.difference(release, *keys[1::-1])),
        (ratio(view, one, more), client.ratio(release, keys[1], {keys[0]: 1, keys[2]: 1})),
        (ratio(view, more, one), client.ratio(release, {keys[0]: 1, keys[2]: 1}, keys[1])),
        (share(view, one, one + more), client.share(release, keys[1], keys[:3])),
        (
            share(view, more, np.ones(len(keys))),
            client.share(release, {keys[0]: 1, keys[2]: 1}, keys),
        ),
    ]
    for ours, theirs in pairs:
        assert_same(ours, theirs)
        # Each says the same of its law, in its own words.
        assert ("conservative" in ours.law) == ("conservative" in theirs.law)
        assert ("may be 0" in ours.law) == ("may be 0" in theirs.law)


@pytest.mark.parametrize("name", RELEASES)
def test_page_and_client_add_up_the_same_releases_unasked(name: str) -> None:
    view = RELEASES[name]
    if has_parts(view):
        assert_same(combination(view, np.ones(len(view.values))), client.total(read(view)))
        return
    assert name in ("groups", "marginals")
    with pytest.raises(InvalidArgument, match="not parts of one whole"):
        client.total(read(view))


def test_the_client_combines_releases_to_the_same_values() -> None:
    first = release_of(100.0, 20.0, 5.0)
    better = ErrorView(DEVIATION / 2, 0.95, NORMAL * DEVIATION / 2)
    other = release_of(3.0, 90.0, 25.0, keys=list("cab"), error=better, id="rel_2", query="other")
    for second in (other, replace(other, mechanism="laplace", granularity=4.0)):
        ours = combined(first, second)
        theirs = client.combined([read(first), read(second)])
        for each, key in zip(ours, "abc", strict=True):
            assert_same(each, theirs[key])
    assert combined(first, other)[0].value == pytest.approx(92)
    assert combined(first, other)[0].law == EXACT


def test_two_levels_of_one_query_are_not_averaged() -> None:
    view = release_of(1.0, 2.0)
    with pytest.raises(Conflict, match="partner and public: the noisier one is the other") as said:
        combined(view, replace(view, id="rel_2", tier="public"))
    assert "Use the more accurate one alone" in said.value.detail
    apart = replace(view, mechanism="generalized_gaussian")
    assert len(combined(apart, replace(apart, id="rel_2"))) == 2
    with pytest.raises(Conflict):
        combined(apart, apart)
    with pytest.raises(InvalidInput, match="different keys"):
        combined(view, release_of(1.0, 2.0, keys=["a", "z"], query="other"))
    other = replace(view, query="other", error=replace(view.error, confidence=0.9))
    with pytest.raises(InvalidInput, match="different confidence"):
        combined(view, other)


def test_nothing_is_left_of_keys_less_themselves() -> None:
    view = release_of(1.0, 2.0)
    with pytest.raises(InvalidInput, match="nothing is left"):
        combination(view, np.zeros(2))
    with pytest.raises(InvalidInput, match="nothing is left"):
        ratio(view, weights_of(view, [0]), np.zeros(2))


def test_laws_are_named() -> None:
    view = RELEASES["one error"]
    assert combination(view, weights_of(view, [1])).law == AS_STATED
    assert combination(view, weights_of(view, [0, 1])).law == EXACT
    steps = RELEASES["noise of steps"]
    assert combination(steps, weights_of(steps, [0, 1])).law == CONSERVATIVE
    assert ratio(view, weights_of(view, [2]), weights_of(view, [3])).law.endswith(quantities.OPEN)


TIMES = 4000


def coverage(correlation: float, factor: float = NORMAL) -> float:
    """Return how often Fieller's interval covers the ratio 1/3 of values with normal noise."""
    generator = Stream.from_key(sha256(b"fieller").digest()).generator
    spread = np.array([[4.0, 6.0 * correlation], [6.0 * correlation, 9.0]])
    noises = generator.multivariate_normal((10.0, 30.0), spread, TIMES)
    variances = (spread[0, 0], spread[0, 1], spread[1, 1])
    inside = 0
    for above, below in noises.tolist():
        least, most, _ = fieller((above, below), variances, factor, (-math.inf, math.inf))
        inside += least <= 1 / 3 <= most
    return inside / TIMES


@pytest.mark.parametrize("correlation", [0.0, 0.8, -0.8])
def test_fiellers_interval_covers_as_often_as_it_says(correlation: float) -> None:
    """Bound the share by 5.2 standard errors: a false alarm in 5 million runs of this seed's law.

    An interval that is a sixth too short is refused by the same bound.
    """
    bound = 5.2 * math.sqrt(0.95 * 0.05 / TIMES)
    assert abs(coverage(correlation) - 0.95) < bound
    assert abs(coverage(correlation, 5 / 6 * NORMAL) - 0.95) > bound
