"""Test allowances, and queries of analysts, when a dataset has a new version."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.allowances.asking import BUDGETS, ask, give, left, request_of
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, NameTaken, NotFound
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances, datasets
from penstock.services.exposure import exposure
from penstock.services.pagination import Window
from penstock.services.previews import query_preview
from penstock.services.queries import queries
from penstock.services.schemas.queries import VersionRequest
from penstock.services.verification.verification import verify


@pytest.fixture
def renewed(stays: World, keep: Callable[[str, str], Path]) -> World:
    """Return the world with an analyst's query of the first version, and a second version."""
    give(stays)
    ask(stays, "paul", "mine")
    file = keep("stays_renewed.csv", f"{ROWS}p600,west,1\n")
    request = VersionRequest.model_validate(
        {"source": {"engine": "duckdb", "uri": str(file)}, "budgets": BUDGETS}
    )
    datasets.add_version(stays.server, OPERATOR, "stays", request)
    return stays


def names(world: World, who: str) -> list[str]:
    page = queries.listing(world.server, world.person(who), Window())
    return [query.name for query in page.items]


def test_an_allowance_is_of_one_version(renewed: World) -> None:
    assert allowances.listing(renewed.server, OPERATOR, "stays") == []
    assert allowances.listing(renewed.server, renewed.person("paul"), "stays") == []
    with pytest.raises(Forbidden, match="Ask an admin for an allowance"):
        ask(renewed, "paul", "again")
    give(renewed)
    assert left(renewed).spent_share == 0, "the second version has an account of its own"
    assert ask(renewed, "paul", "again").dataset_version == 2
    assert [one.query for one in left(renewed).queries] == ["again@partner"]
    assert verify(renewed.server, OPERATOR).problems == []


def test_what_was_registered_stays_readable_there_and_above_and_hidden_below(
    renewed: World,
) -> None:
    give(renewed, "public")
    assert names(renewed, "pia") == []
    assert names(renewed, "paul") == names(renewed, "ines") == ["mine"]
    assert renewed.ask("ines", "mine").view.level == renewed.ask("paul", "mine").view.level
    for name in ("mine", "mine@partner"):
        with pytest.raises(NotFound, match="There is no query"):
            queries.show(renewed.server, renewed.person("pia"), name)
    assert "mine" not in repr(budgets.show(renewed.server, renewed.person("pia"), "stays"))
    # Neither its name nor its statistic is in the way of those who do not see it.
    preview = query_preview.preview(
        renewed.server, renewed.person("pia"), request_of("mine", "public")
    )
    assert "partner" not in repr(preview)
    assert ask(renewed, "pia", "mine", "public").name == "mine"


def test_its_name_stays_taken_for_those_who_see_it(renewed: World) -> None:
    give(renewed)
    with pytest.raises((NameTaken, Conflict), match="'mine'"):
        ask(renewed, "paul", "mine")


def test_what_people_know_adds_up_over_versions(renewed: World) -> None:
    give(renewed)
    ask(renewed, "paul", "again")
    renewed.ask("paul", "mine")
    one = exposure.of(renewed.server, OPERATOR, ["paul", "pia"], "stays")
    renewed.ask("paul", "again")
    both = exposure.of(renewed.server, OPERATOR, ["paul", "pia"], "stays")
    assert {each.query for each in both.queries} == {"mine@partner", "again@partner"}
    assert both.released.epsilon > one.released.epsilon
    assert both.reach is not None
    assert both.could_be.epsilon <= both.reach.epsilon == 2 * BUDGETS["partner"]["epsilon"]
