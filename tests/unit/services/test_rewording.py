"""Test who changes titles and other texts, and who sees them."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput, NotFound
from penstock.services import rewording
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.pagination import Window
from penstock.services.queries import queries
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams

STREAM = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 50,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.01}},
    "title": "Hits a day",
}


def test_admins_change_texts_and_readers_see_them(world: World) -> None:
    server, reader = world.server, world.person("pia")
    world.push(title="Visits")
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(STREAM))
    assert rewording.of_dataset(server, OPERATOR, "sites", {"title": "Sites"}).title == "Sites"
    assert rewording.of_query(server, OPERATOR, "visits", {"unit": "days"}).title == "Visits"
    assert rewording.of_stream(server, OPERATOR, "hits", {"tags": ["web"]}).title == "Hits a day"
    whole = Window(limit=10, after=0)
    (dataset,) = datasets.listing(server, reader, whole).items
    (query,) = queries.listing(server, reader, whole).items
    (stream,) = streams.listing(server, reader, whole).items
    assert (dataset.title, query.unit, stream.tags) == ("Sites", "days", ["web"])
    assert streams.show(server, reader, "hits") == stream
    assert datasets.show(server, reader, "sites") == dataset


@pytest.mark.parametrize("name", ["of_dataset", "of_query", "of_stream"])
def test_others_change_nothing(world: World, name: str) -> None:
    for person in ("pia", "otto"):
        with pytest.raises(Forbidden):
            getattr(rewording, name)(world.server, world.person(person), "sites", {"title": "x"})
    with pytest.raises(NotFound):
        getattr(rewording, name)(world.server, OPERATOR, "absent", {"title": "x"})


def test_a_refused_owner_leaves_everything_as_it_was(world: World) -> None:
    world.push(title="Visits")
    with pytest.raises(InvalidInput):
        rewording.of_query(world.server, OPERATOR, "visits", {"title": "x", "owners": ["nobody"]})
    assert queries.show(world.server, OPERATOR, "visits").title == "Visits"


def test_an_analyst_without_a_budget_learns_no_title(world: World) -> None:
    server = world.server
    hidden = {**SITES, "name": "hidden", "title": "Secret", "budgets": {"internal": {"epsilon": 1}}}
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(hidden))
    with pytest.raises(NotFound) as refused:
        datasets.show(server, world.person("pia"), "hidden")
    assert "Secret" not in str(refused.value)
    shown = datasets.listing(server, world.person("pia"), Window(limit=10, after=0)).items
    assert [dataset.name for dataset in shown] == ["sites"]
