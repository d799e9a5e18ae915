"""Test which values of a release are shown, also of one that is too long to be shown whole."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.worlds import World

from penstock.connectors.planning.domain import Domain
from penstock.errors import InvalidInput
from penstock.services.noise.long_vectors import parts
from penstock.services.noise.long_vectors.lazy_values import LazyValues, Stretch
from penstock.services.schemas.views import PartView, ReleaseView


@pytest.fixture
def view(long: World) -> ReleaseView:
    return long.ask("pia", "long").view


def test_a_part_stays_in_its_chunks(view: ReleaseView) -> None:
    part = parts.ranged(view, 6, 9)
    assert isinstance(part.values, LazyValues)
    assert np.asarray(part.values).tolist() == np.asarray(view.values)[6:10].tolist()
    assert part.part == PartView(6, 9, 20)


def test_keys_that_are_made_on_demand_stay_so() -> None:
    domain = Domain((("a", "b", "c"), ("x", "y")))
    assert Domain.of(domain.stored()) == domain
    stretch = Stretch(domain, 1, 5)
    assert list(stretch) == list(domain)[1:5]
    assert stretch[1:3] == list(domain)[2:4]
    assert len(stretch) == 4


def test_only_a_release_that_is_too_long_is_cut(
    view: ReleaseView, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parts.without_values(view) is parts.first_part(view) is view
    monkeypatch.setattr(parts, "MOST_AT_ONCE", 19)
    monkeypatch.setattr(parts, "CHUNK", 8)
    assert parts.without_values(view).part == PartView(None, None, 20)
    assert parts.first_part(view).part == PartView(0, 7, 20)


def test_an_empty_release_has_no_ranges(view: ReleaseView) -> None:
    with pytest.raises(InvalidInput, match="0 values"):
        parts.ranged(replace(view, values=np.empty(0)), 0, 0)
