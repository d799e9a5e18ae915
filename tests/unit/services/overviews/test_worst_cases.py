"""Test the bound over what everybody together could learn, against the composed one."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import by_tier, exposure, same_people
from penstock.services.overviews import worst_cases
from penstock.services.people import users
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import DatasetRequest

EVERYBODY = ["pia", "paul", "ines"]


def look(world: World, *names: str) -> list[worst_cases.WorstCaseView]:
    return worst_cases.look(world.server, world.person("otto"), names)


def add(world: World, name: str) -> None:
    spec = DatasetRequest.model_validate({**SITES, "name": name})
    datasets.register(world.server, OPERATOR, spec)


@pytest.mark.each_database
def test_the_bound_is_at_least_what_is_composed_and_within_the_budget(visits: World) -> None:
    visits.push("beds", mechanism="laplace")
    exact = exposure.of(visits.server, visits.person("otto"), EVERYBODY, "sites")
    (case,) = look(visits, "sites")
    assert exact.reach is not None
    assert case.possible is not None
    assert (case.dataset, case.tier, case.budget) == ("sites", "internal", exact.reach.epsilon)
    assert exact.could_be.epsilon <= case.possible <= exact.reach.epsilon
    # A bound of all that may be asked for would be no news.
    assert case.possible < 0.9 * exact.reach.epsilon


def test_nothing_spent_is_nothing_to_learn(world: World) -> None:
    (case,) = look(world, "sites")
    assert (case.possible, case.others) == (0, [])


def test_the_highest_tier_that_anybody_ever_held_counts(visits: World) -> None:
    before = look(visits, "sites")
    users.change(visits.server, OPERATOR, "ines", UserChange(clearance="public"))
    assert look(visits, "sites") == before
    assert before[0].tier == "internal"


def test_datasets_of_the_same_people_are_one_case_and_add_up(visits: World) -> None:
    (alone,) = look(visits, "sites")
    add(visits, "beds")
    visits.push("places", dataset="beds")
    assert [case.others for case in look(visits, "sites", "beds")] == [[], []]
    same_people.declare(visits.server, OPERATOR, "beds", "sites")
    (both,) = look(visits, "sites", "beds")
    assert (both.dataset, both.others) == ("sites", ["beds"])
    assert alone.possible is not None
    assert alone.budget is not None
    assert both.possible == pytest.approx(2 * alone.possible)
    assert both.budget == pytest.approx(2 * alone.budget)


def test_of_too_many_versions_no_figure_is_given(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_tier, "MOST_VERSIONS", 0)
    (case,) = look(visits, "sites")
    assert (case.possible, case.budget) == (None, None)


def test_only_auditors_see_it(visits: World) -> None:
    for name in ("ines", "ada"):
        with pytest.raises(Forbidden):
            worst_cases.look(visits.server, visits.person(name), ["sites"])
