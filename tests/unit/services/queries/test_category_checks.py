"""Test that a wrong category shows for a small charge: what share of rows none of them takes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.datasets.stays import register
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, InvalidInput
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.noise.means import Bounds, bounds_of
from penstock.services.queries import category_checks, registration
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.views import DatasetView

CELLS = ["north"] * 300 + ["rural_area"] * 150 + ["North"] * 75 + [""] * 75
ROWS = "person,town,visits\n" + "".join(f"p{n},{cell},1\n" for n, cell in enumerate(CELLS))


@pytest.fixture
def shown(world: World, keep: Callable[[str, str], Path]) -> DatasetView:
    register(world, keep("people_checked.csv", ROWS))
    return datasets.show(world.server, OPERATOR, "stays")


def spent(world: World) -> dict[str, float]:
    found = budgets.show(world.server, OPERATOR, "stays")
    return {tier.tier: tier.remaining_share for tier in found.tiers}


def test_a_check_answers_with_a_share_and_its_interval_for_the_stated_epsilon(
    world: World, shown: DatasetView
) -> None:
    wanted = category_checks.check_request(shown, "town", epsilon=0.5)
    before = spent(world)
    made = registration.register(world.server, OPERATOR, wanted)
    (tier,) = made.tiers
    assert tier.tier == "internal"
    assert tier.guarantee.epsilon <= 0.5
    after = spent(world)
    assert after["internal"] < before["internal"]
    assert after["public"] == before["public"], "tiers below lose nothing"
    answer = world.ask("ines", made.name).view
    assert answer.mean is not None
    (low,), (high,) = answer.mean.lower, answer.mean.upper
    assert 0 < low <= 0.5 <= high < 1, "300 of 600 rows: another word, another case, and empty"
    rows = answer.mean.counts[0]
    assert rows == pytest.approx(600, abs=60), "empty cells count as rows"
    assert answer.values.tolist()[0] == pytest.approx(0.5, abs=0.2)


def test_it_is_charged_as_the_mean_of_zeros_and_ones(world: World, shown: DatasetView) -> None:
    wanted = category_checks.check_request(shown, "town")
    made = registration.register(world.server, OPERATOR, wanted)
    # One person with one row: a half step either way in the sum, and one in the count.
    assert made.sensitivity.l1 == 1.0
    assert made.sensitivity.linf == 0.5
    assert made.sensitivity.l2 == pytest.approx(0.5**0.5)


def test_the_check_of_a_raised_row_limit_moves_as_many_rows(
    world: World, shown: DatasetView
) -> None:
    wanted = category_checks.check_request(shown, "town", rows=3)
    assert registration.register(world.server, OPERATOR, wanted).sensitivity.linf == 1.5


def test_a_check_is_stored_and_read_again_as_a_share(world: World, shown: DatasetView) -> None:
    made = registration.register(
        world.server, OPERATOR, category_checks.check_request(shown, "town")
    )
    assert made.spec["aggregate"] == {"type": "uncategorized", "column": "town"}
    assert made.name == "stays town uncategorized"
    with world.server.database.read() as session:
        from penstock.services.repository.queries import query_by_name

        assert bounds_of(query_by_name(session, made.name)) == Bounds(0.0, 1.0)


@pytest.mark.parametrize("column", ["person", "visits", "absent"])
def test_a_column_without_categories_is_refused(
    world: World, shown: DatasetView, column: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        registration.register(world.server, OPERATOR, category_checks.check_request(shown, column))
    assert refused.value.errors[0][0] == "/aggregate/column"
    assert set(spent(world).values()) == {1.0}


def test_a_budget_that_is_too_small_is_refused(world: World, shown: DatasetView) -> None:
    with pytest.raises(BudgetExhausted):
        registration.register(
            world.server, OPERATOR, category_checks.check_request(shown, "town", epsilon=20)
        )


def test_a_column_is_checked_again_under_another_name(world: World, shown: DatasetView) -> None:
    first = category_checks.name_of(shown.name, "town")
    assert category_checks.free_name(world.server, shown.name, "town") == first
    registration.register(
        world.server, OPERATOR, category_checks.check_request(shown, "town", epsilon=0.1)
    )
    column = {"type": "string", "categories": ["north", "rural_area"]}
    wanted = CorrectionRequest.model_validate({"columns": {"town": column}})
    corrections.correct(world.server, OPERATOR, shown.name, wanted)
    again = category_checks.free_name(world.server, shown.name, "town")
    assert again == f"{first} 2"
    asked = category_checks.check_request(shown, "town", epsilon=0.1, name=again)
    assert registration.register(world.server, OPERATOR, asked).name == again


def test_names_that_columns_cannot_give_are_made() -> None:
    assert category_checks.name_of("a", "b") == "a b uncategorized"
    for column in ("x/y", "x" * 100, "x,y", "x\ny"):
        name = category_checks.name_of("a", column)
        assert name.startswith("uncategorized ")
        assert name != category_checks.name_of("b", column)
