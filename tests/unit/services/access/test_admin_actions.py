"""Test that a change's leaf says what its actor had been handed of the dataset it is about."""

from typing import Any

from sqlmodel import select
from tests.unit.services import logged
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.persistence.tables import Dataset
from penstock.services.access.admin_actions import exposure_of
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.datasets import datasets
from penstock.services.people import tier_changes
from penstock.services.releases import releases
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import DatasetRequest, ReleaseRequest


def exposure(world: World, name: str, dataset: str | None = None) -> Any:
    with world.server.database.read() as session:
        row = session.exec(select(Dataset).where(Dataset.name == dataset)).first()
        assert dataset is None or row is not None
        return exposure_of(session, world.person(name), row if dataset else None)


def test_whoever_was_handed_nothing_has_no_exposure(visits: World) -> None:
    visits.ask("ines")
    assert exposure(visits, "pia") == {}


def test_only_the_most_accurate_level_counts(visits: World) -> None:
    coarse = visits.ask("ines", epsilon=0.1).view.level.value
    assert exposure(visits, "ines") == {"visits": coarse}
    fine = visits.ask("ines").view.level.value
    assert fine < coarse
    assert exposure(visits, "ines") == {"visits": fine}


def test_it_covers_the_dataset_that_the_change_is_about(visits: World) -> None:
    other = DatasetRequest.model_validate({**SITES, "name": "others"})
    datasets.register(visits.server, OPERATOR, other)
    visits.ask("pia")
    assert list(exposure(visits, "pia", "sites")) == ["visits"]
    assert exposure(visits, "pia", "others") == {}


def test_every_leaf_of_a_registration_says_what_its_actor_had_read(visits: World) -> None:
    pia = acting_as(visits.server, "pia", by=OPERATOR)
    level = releases.request(visits.server, pia, "visits", ReleaseRequest()).view.level.value
    visits.push("next")
    own = [leaf for leaf in logged.leaves(visits) if leaf.get("query") == "next"]
    assert [leaf["kind"] for leaf in own] == ["query", *["level"] * (len(own) - 1)]
    assert len(own) > 2
    assert all(leaf["actor_exposure"] == {"visits": level} for leaf in own)


def test_what_was_read_in_the_name_of_others_counts_as_read_by_the_operator(visits: World) -> None:
    pia = acting_as(visits.server, "pia", by=OPERATOR)
    level = releases.request(visits.server, pia, "visits", ReleaseRequest()).view.level.value
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="staff", above="public"))
    (leaf,) = [leaf for leaf in logged.leaves(visits) if leaf.get("tier") == "staff"][:1]
    assert (leaf["actor"], leaf["kind"]) == ("operator", "tier")
    assert leaf["actor_exposure"] == {"visits": level}
