"""Test what analysts find of their own on the home page, and that it is theirs alone."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Forbidden, KeysUnavailable
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.operations import key_rotation
from penstock.services.overviews import own_data
from penstock.services.people import users
from penstock.services.releases import history
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import DatasetRequest


def register(world: World, name: str, **epsilons: float) -> None:
    levels = {tier: {"epsilon": epsilon} for tier, epsilon in epsilons.items()}
    spec = {**SITES, "name": name, "budgets": levels}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


def shown(world: World, name: str) -> own_data.OwnDataView:
    return own_data.datasets(world.server, world.person(name))


def received(world: World, name: str) -> list[str]:
    return [view.query for view in own_data.results(world.server, world.person(name))]


@pytest.mark.each_database
def test_budgets_are_those_of_the_readers_own_tier(visits: World) -> None:
    for name in ("pia", "ines"):
        (own,) = shown(visits, name).datasets
        (tier,) = budgets.show(visits.server, visits.person(name), "sites").tiers
        assert (shown(visits, name).tier, own.name) == (tier.tier, "sites")
        assert own.epsilon == tier.granted.epsilon
        assert own.remaining_share == tier.remaining_share
        assert own.received_at is None


def test_a_dataset_without_a_budget_for_the_readers_tier_is_absent(visits: World) -> None:
    register(visits, "closed", internal=1)
    assert [own.name for own in shown(visits, "ines").datasets] == ["closed", "sites"]
    seen = shown(visits, "pia")
    assert ([own.name for own in seen.datasets], seen.count) == (["sites"], 1)
    assert "closed" not in str(seen)


def test_nobody_without_a_clearance_has_a_dataset(visits: World) -> None:
    users.create(visits.server, OPERATOR, UserSpec(name="noa", roles=["analyst"]))
    assert shown(visits, "noa") == own_data.OwnDataView(None, [], 0)
    assert received(visits, "noa") == []


def test_more_roles_show_no_more_here(visits: World) -> None:
    both = UserSpec(name="bea", roles=["analyst", "admin", "auditor"], clearance="public")
    users.create(visits.server, OPERATOR, both)
    register(visits, "closed", internal=1)
    assert shown(visits, "bea").datasets == shown(visits, "pia").datasets


def test_datasets_come_by_the_last_release_then_the_newest_up_to_a_number(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("beds", "staff"):
        register(visits, name, public=1)
    visits.clock.forward(days=1)
    visits.ask("pia")
    seen = shown(visits, "pia")
    assert [own.name for own in seen.datasets] == ["sites", "staff", "beds"]
    assert seen.datasets[0].received_at == visits.clock.now
    monkeypatch.setattr(own_data, "MOST_DATASETS", 2)
    seen = shown(visits, "pia")
    assert ([own.name for own in seen.datasets], seen.count) == (["sites", "staff"], 3)


def test_the_newest_release_of_each_query_is_shown_the_newest_first(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits.push("beds", title="Occupied places")
    visits.ask("ines", tier="public")
    visits.ask("ines", "beds")
    newest = visits.ask("ines")
    visits.ask("pia", "beds")
    found = own_data.results(visits.server, visits.person("ines"))
    assert [view.query for view in found] == ["visits", "beds"]
    assert (found[0].id, found[0].tier) == (newest.view.id, "internal")
    assert found[0].release is not None
    assert list(found[0].release.values) == list(newest.view.values)
    assert found[1].texts is not None
    assert found[1].texts.title == "Occupied places"
    assert received(visits, "pia") == ["beds"]
    monkeypatch.setattr(own_data, "MOST_RESULTS", 1)
    assert received(visits, "ines") == ["visits"]


def test_of_many_numbers_the_first_are_read_and_of_very_many_none(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = visits.ask("ines").view
    monkeypatch.setattr(own_data, "MOST_NUMBERS", 2)
    (found,) = own_data.results(visits.server, visits.person("ines"))
    assert found.release is not None
    assert (list(found.release.values), found.count) == (list(whole.values)[:2], 3)
    monkeypatch.setattr(own_data, "LARGEST", 1)
    (found,) = own_data.results(visits.server, visits.person("ines"))
    assert (found.release, found.count, found.id) == (None, 0, whole.id)


def test_texts_go_with_the_clearance_and_the_release_stays(visits: World) -> None:
    above = {"levels": {"internal": {"epsilon": 0.5}}}
    visits.push("beds", title="Occupied places", **above)
    visits.ask("ines", "beds")
    users.change(visits.server, OPERATOR, "ines", UserChange(clearance="public"))
    (found,) = own_data.results(visits.server, visits.person("ines"))
    assert found.texts is None
    assert found.release is not None


def test_the_page_is_there_while_keys_are_not(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits.ask("ines")

    def fail(*_: object) -> None:
        raise KeysUnavailable("no keys")

    monkeypatch.setattr(history, "values", fail)
    (found,) = own_data.results(visits.server, visits.person("ines"))
    assert found.release is None


def test_what_was_destroyed_is_named_without_numbers(visits: World) -> None:
    visits.ask("ines")
    key_rotation.shred(visits.server, OPERATOR, "sites")
    (found,) = own_data.results(visits.server, visits.person("ines"))
    assert (found.query, found.release) == ("visits", None)


def test_others_have_nothing_of_their_own(visits: World) -> None:
    for name in ("ada", "otto"):
        for look in (own_data.datasets, own_data.results):
            with pytest.raises(Forbidden):
                look(visits.server, visits.person(name))
