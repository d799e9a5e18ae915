"""Test what is left of an allowance: what counts, in which account, and who may use it."""

import pytest
from tests.unit.services.allowances.asking import ask, exhaust, give, left, of_value
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange


def test_an_allowance_far_below_the_budget_has_room_in_an_account_of_its_own(stays: World) -> None:
    exhaust(stays, "public", below=1.9)  # the tier's own account has the order of its budget
    give(stays, epsilon=0.3)
    ask(stays, "paul", "mine", levels={"partner": {"epsilon": 0.2}})
    assert 0.1 < left(stays).spent_share < 1


def test_a_level_that_an_admin_raises_counts_only_against_the_budgets(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    before = left(stays)
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.5}}})
    queries.change(stays.server, OPERATOR, "mine", change)
    assert left(stays) == before


def test_an_allowance_of_named_analysts_is_for_them_alone(stays: World) -> None:
    give(stays, "partner", 1.0, "ines")
    with pytest.raises(Forbidden, match="Ask an admin"):
        ask(stays, "paul", "mine")
    give(stays, "partner", 1.0, "ines", "paul")
    assert ask(stays, "paul", "mine").name == "mine"
    assert left(stays).users == ["paul", "ines"]


def test_a_larger_allowance_counts_what_was_registered_before_anew(stays: World) -> None:
    give(stays, epsilon=0.35)
    ask(stays, "paul", "mine")
    small = left(stays).spent_share
    larger = give(stays, epsilon=2.0)
    assert 0 < larger.spent_share < small
    assert [one.query for one in larger.queries] == ["mine@partner"]
    assert larger.queries[0].share == pytest.approx(larger.spent_share)


def test_below_what_is_spent_nothing_is_left_and_nothing_is_taken(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    smaller = give(stays, epsilon=0.15)
    assert smaller.remaining_share == 0
    assert smaller.spent_share > 1
    with pytest.raises(BudgetExhausted, match="and 0 is left"):
        ask(stays, "paul", "more", **of_value("north"))
    assert stays.ask("paul", "mine").view.tier == "partner"


def test_taking_it_back_takes_nothing_and_giving_it_again_forgets_nothing(stays: World) -> None:
    give(stays)
    ask(stays, "paul", "mine")
    spent = left(stays).spent_share
    allowances.take_back(stays.server, OPERATOR, "stays", "partner")
    with pytest.raises(Forbidden, match="Ask an admin"):
        ask(stays, "paul", "more", **of_value("north"))
    assert stays.ask("paul", "mine").view.tier == "partner"
    assert give(stays).spent_share == spent
