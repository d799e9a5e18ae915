"""Test that the texts of many subjects are read at once."""

from sqlmodel import select
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Query, Tier
from penstock.services import rewording
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.wordings import stored


def test_the_newest_texts_of_many(world: World) -> None:
    world.push(title="First")
    world.push("second", share=0.01, levels=None)
    for title in ("Second", "Third"):
        rewording.of_query(world.server, OPERATOR, "visits", {"title": title})
        rewording.of_dataset(world.server, OPERATOR, "sites", {"title": f"{title} sites"})
    with world.server.database.read() as session:
        keys = {row.name: required(row.id) for row in session.exec(select(Query)).all()}
        of_all = stored.of_queries(session)
        assert {key: view.title for key, view in of_all.items()} == {keys["visits"]: "Third"}
        assert stored.of_queries(session, [keys["second"]]) == {}
        assert stored.of_queries(session, list(keys.values())) == of_all
        assert {name: view.title for name, view in stored.of_datasets(session).items()} == {
            "sites": "Third sites"
        }
        assert stored.of_datasets(session, ["other"]) == {}


def test_a_statistic_without_labels_is_shown_with_those_of_its_dataset(world: World) -> None:
    world.push(labels={"0": "Own"})
    world.push("second", share=0.01, levels=None, title="Second")
    rewording.of_dataset(world.server, OPERATOR, "sites", {"labels": {"0": "North", "1": "South"}})
    with world.server.database.read() as session:
        rows = {row.name: row for row in session.exec(select(Query)).all()}
        shown = stored.shown_of(session, list(rows.values()), None)
        own, other = (shown[required(rows[name].id)] for name in ("visits", "second"))
        assert own.shown_labels == own.labels == {"0": "Own"}
        assert (other.title, other.labels) == ("Second", {})
        assert other.shown_labels == {"0": "North", "1": "South"}
        assert stored.shown_of_query(session, rows["second"], None) == other
        assert stored.shown_of(session, [], None) == {}


def test_labels_of_a_dataset_are_shown_to_nobody_who_does_not_see_it(world: World) -> None:
    above = {**SITES, "name": "above", "budgets": {"internal": {"epsilon": 1}}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(above))
    world.push("beds", dataset="above", levels={"internal": {"epsilon": 0.1}})
    rewording.of_dataset(world.server, OPERATOR, "above", {"labels": {"0": "Secret"}})
    with world.server.database.read() as session:
        (query,) = session.exec(select(Query)).all()
        tiers = {tier.name: tier for tier in session.exec(select(Tier)).all()}
        shown = {
            name: stored.shown_of_query(session, query, tiers[name]).shown_labels
            for name in ("public", "internal")
        }
    assert shown == {"public": {}, "internal": {"0": "Secret"}}
