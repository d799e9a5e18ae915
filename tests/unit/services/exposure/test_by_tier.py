"""Test losses by tier against what is composed for all people who never held a higher one."""

from collections.abc import Sequence

import pytest
from sqlmodel import select
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Forbidden, NotFound
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import by_tier, exposure, same_people
from penstock.services.people import tier_changes, users
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import DatasetRequest

TIERS = ["public", "partner", "internal"]
HOLDERS = ["pia", "paul", "ines"]


def look(world: World, dataset: str | None = None) -> by_tier.LossMatrixView:
    return by_tier.look(world.server, world.person("otto"), dataset)


def losses(world: World, dataset: str = "sites") -> Sequence[by_tier.TierLossView]:
    (row,) = look(world, dataset).datasets
    assert row.tiers is not None
    return [tier for tier in row.tiers if tier is not None]


def add(world: World, name: str, **changes: object) -> None:
    spec = DatasetRequest.model_validate({**SITES, "name": name, **changes})
    datasets.register(world.server, OPERATOR, spec)


@pytest.mark.each_database
def test_losses_are_at_least_what_is_composed_for_everybody_up_to_a_tier(visits: World) -> None:
    visits.push("beds", mechanism="laplace")
    for name in HOLDERS:
        visits.ask(name)
    for place, tier in enumerate(losses(visits)):
        together = exposure.of(visits.server, OPERATOR, HOLDERS[: place + 1], "sites")
        assert together.reach is not None
        assert (tier.tier, tier.budget) == (TIERS[place], together.reach.epsilon)
        assert tier.delta == together.reach.delta
        assert together.released.epsilon <= tier.released < tier.possible <= tier.budget
        assert together.could_be.epsilon <= tier.possible
        # A bound of the budget itself would be no news.
        assert tier.possible < 0.9 * tier.budget


def test_what_was_handed_to_one_tier_counts_there_and_above_it(visits: World) -> None:
    assert [tier.released for tier in losses(visits)] == [0, 0, 0]
    visits.ask("paul")
    public, partner, internal = losses(visits)
    assert public.released == 0
    assert 0 < partner.released == partner.possible
    assert internal.released > 0


def test_who_was_demoted_does_not_count_below_the_tier_they_held(visits: World) -> None:
    visits.ask("ines")
    users.change(visits.server, OPERATOR, "ines", UserChange(clearance="public"))
    public, partner, internal = losses(visits)
    assert (public.released, partner.released) == (0, 0)
    assert internal.released > 0


def test_a_tier_without_a_budget_has_no_losses(visits: World) -> None:
    add(visits, "beds", budgets={"partner": {"epsilon": 1}})
    (row,) = look(visits, "beds").datasets
    assert row.tiers is not None
    assert [tier and tier.budget for tier in row.tiers] == [None, 1, 1]


def test_datasets_of_the_same_people_are_one_and_add_up(visits: World) -> None:
    visits.ask("ines")
    (*_, alone) = losses(visits)
    add(visits, "beds")
    visits.push("places", dataset="beds")
    visits.ask("ines", "places")
    assert [row.dataset for row in look(visits).datasets] == ["beds", "sites"]
    same_people.declare(visits.server, OPERATOR, "beds", "sites")
    (row,) = look(visits).datasets
    assert (row.dataset, row.others) == ("sites", ["beds"])
    assert row.tiers is not None
    (*_, both) = row.tiers
    assert both is not None
    assert both.released == pytest.approx(2 * alone.released)
    assert (both.possible, both.budget) == pytest.approx((2 * alone.possible, 2 * alone.budget))


def test_the_newest_datasets_are_shown_and_all_are_counted(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_tier, "MOST_DATASETS", 1)
    add(visits, "beds")
    matrix = look(visits)
    assert (matrix.tiers, matrix.count) == (TIERS, 2)
    assert [row.dataset for row in matrix.datasets] == ["beds"]
    one = look(visits, "sites")
    assert ([row.dataset for row in one.datasets], one.count) == (["sites"], 2)


def test_who_holds_a_tier_decides_and_not_the_level_that_they_requested(visits: World) -> None:
    visits.ask("ines", tier="public")
    assert [tier.released > 0 for tier in losses(visits)] == [False, False, True]
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance=None))
    tier_changes.delete(visits.server, OPERATOR, "public")
    visits.ask("paul")
    partner, internal = losses(visits)
    assert partner.released > 0
    assert internal.released > 0


def test_what_a_restore_froze_counts_as_handed_out(visits: World) -> None:
    with visits.server.database.write() as session:
        (query,) = session.exec(select(Query)).all()
        query.frozen = "2026-01-01T00:00:00Z"
    assert [tier.released for tier in losses(visits)] == [tier.possible for tier in losses(visits)]
    assert all(tier.released for tier in losses(visits))


def test_of_too_many_versions_no_figure_is_given(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_tier, "MOST_VERSIONS", 0)
    (row,) = look(visits, "sites").datasets
    assert row.tiers is None


def test_only_auditors_see_it_and_an_unknown_dataset_is_refused(visits: World) -> None:
    for name in ("ines", "ada"):
        with pytest.raises(Forbidden):
            by_tier.look(visits.server, visits.person(name))
    with pytest.raises(NotFound):
        look(visits, "nowhere")
