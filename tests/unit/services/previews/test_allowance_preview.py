"""Test what a preview says of the caller's allowance."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.allowances.asking import ask, fill_stays, give, left, request_of
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import CopyWorld, World

from penstock.services.previews import query_preview


@pytest.fixture
def stays(copy_world: CopyWorld, keep: Callable[[str, str], Path]) -> World:
    file = keep("stays_asked.csv", ROWS)
    return copy_world("stays-asked", lambda world: fill_stays(world, file))


def test_a_preview_says_what_is_left_and_what_the_query_would_take(stays: World) -> None:
    give(stays)
    paul = stays.person("paul")
    seen = query_preview.preview(stays.server, paul, request_of("mine")).allowance
    assert seen is not None
    assert (seen.tier, seen.fits, seen.remaining_share) == ("partner", True, 1.0)
    ask(stays, "paul", "mine")
    assert left(stays).spent_share == pytest.approx(seen.needed_share)
    give(stays, epsilon=0.15)
    other = request_of("more", mechanism="laplace")
    short = query_preview.preview(stays.server, paul, other).allowance
    assert short is not None
    assert (short.fits, short.remaining_share) == (False, 0.0)


def test_what_could_not_be_registered_under_it_takes_nothing(stays: World) -> None:
    give(stays)
    elsewhere = request_of("mine", "public")
    seen = query_preview.preview(stays.server, stays.person("paul"), elsewhere).allowance
    assert seen is not None
    assert (seen.fits, seen.needed_share) == (None, None)
    for who in ("pia", "ines", "ada"):
        tier = {"pia": "public"}.get(who, "partner")
        view = query_preview.preview(stays.server, stays.person(who), request_of("mine", tier))
        assert view.allowance is None
