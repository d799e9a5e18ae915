"""Test what a preview says of the caller's allowance."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.allowances.asking import (
    ask,
    fill_stays,
    give,
    left,
    of_value,
    request_of,
)
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import CopyWorld, World, cut_off_before_the_anchor

from penstock.errors import Conflict, NameTaken
from penstock.services.access.principals import OPERATOR
from penstock.services.previews import query_preview
from penstock.services.queries import registration


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


def test_what_registering_under_it_refuses_a_preview_refuses(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name and a statistic of a query that the caller sees; what is above stays unsaid."""
    give(stays)
    give(stays, "public")
    by_an_admin = request_of("counts", "internal", **of_value("south"))
    registration.register(stays.server, OPERATOR, by_an_admin)
    ask(stays, "pia", "mine", "public")
    paul = stays.person("paul")
    for request, problem in (
        (request_of("mine", **of_value("north")), NameTaken),
        (request_of("other"), Conflict),
    ):
        with pytest.raises(problem, match="'mine'"):
            query_preview.preview(stays.server, paul, request)
        with pytest.raises(problem, match="'mine'"):
            query_preview.preview(stays.server, OPERATOR, request)
    hidden = request_of("counts", **of_value("south"))
    assert not query_preview.preview(stays.server, paul, hidden).registered
    cut_off_before_the_anchor(monkeypatch, lambda: ask(stays, "paul", "counts", **of_value("west")))
    left_over = request_of("counts", **of_value("west"))
    assert query_preview.preview(stays.server, paul, left_over).registered


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
