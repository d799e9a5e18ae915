"""Test the preview of an allowance: it says what giving it gives, and gives nothing."""

import pytest
from tests.unit.services.allowances.asking import ask, fill_stays, give, left
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import CopyWorld, Keep, World

from penstock.errors import Forbidden, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.previews.given_allowance import preview
from penstock.services.schemas.datasets import AllowanceSpec


@pytest.fixture
def stays(copy_world: CopyWorld, keep: Keep) -> World:
    file = keep("stays_asked.csv", ROWS)
    return copy_world("stays-asked", lambda world: fill_stays(world, file))


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_it_says_what_giving_it_gives(stays: World, epsilon: float) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    before = left(stays)
    spec = AllowanceSpec(epsilon=epsilon, users=["paul"])
    view = preview(stays.server, OPERATOR, "stays", "partner", spec)
    assert left(stays) == before
    assert (view.epsilon_before, view.left_before) == (1.0, before.remaining_share)
    given = give(stays, "partner", epsilon, "paul")
    assert (view.users, view.epsilon) == (given.users, given.epsilon)
    assert (view.spent_share, view.remaining_share) == (given.spent_share, given.remaining_share)
    assert (view.remaining_share > 0) == (epsilon > 1)


def test_a_tier_without_one_has_all_of_it_left(stays: World) -> None:
    view = preview(stays.server, OPERATOR, "stays", "partner", AllowanceSpec(epsilon=1))
    assert (view.epsilon_before, view.left_before, view.spent_share) == (None, None, 0.0)
    assert view.remaining_share == 1.0


def test_it_is_refused_as_giving_it_is(stays: World) -> None:
    with pytest.raises(Forbidden):
        preview(stays.server, stays.person("paul"), "stays", "partner", AllowanceSpec(epsilon=1))
    with pytest.raises(InvalidInput, match="leaves nothing to spend"):
        preview(stays.server, OPERATOR, "stays", "partner", AllowanceSpec(epsilon=1e-4))
