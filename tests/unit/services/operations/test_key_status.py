"""Test how the keys fare, and what shredding would take away, held to what it then does."""

import pytest
from sqlmodel import col, select
from tests.unit.sites import SITES
from tests.unit.worlds import World
from tests.web.world import STREAM

from penstock.errors import Forbidden, IntegrityViolation, KeysUnavailable, NotFound, PenstockError
from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.operations import key_rotation, key_status
from penstock.services.pagination import Window
from penstock.services.releases import history
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams


def test_the_status_has_the_keys_in_use_and_the_newest_rotation(visits: World) -> None:
    before = key_status.look(visits.server, OPERATOR)
    assert (before.problem, before.rotated, before.idle) == (None, None, 0)
    assert before.used == key_rotation.show(visits.server, OPERATOR).used
    key_rotation.rotate(visits.server, visits.person("ada"))
    visits.clock.forward(hours=1)
    key_rotation.shred(visits.server, OPERATOR, "sites")
    after = key_status.look(visits.server, OPERATOR)
    assert after.rotated is not None
    assert (after.rotated.by, after.rotated.keys) == ("ada", 2)
    assert [one.key for one in after.used] == [None]
    assert (after.keys, after.idle) == (before.keys, 1)


def test_keys_that_are_kept_for_backups_are_counted(visits: World) -> None:
    key_rotation.rotate(visits.server, OPERATOR)
    assert key_status.look(visits.server, OPERATOR).idle == 2


def test_a_provider_that_does_not_answer_is_a_state_and_no_refusal(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> object:
        raise KeysUnavailable("The ring is away.")

    with monkeypatch.context() as patch:
        patch.setattr(visits.server.provider, "health", away)
        found = key_status.look(visits.server, OPERATOR)
    assert (found.problem, found.keys, found.idle) == ("The ring is away.", None, None)
    assert [one.dataset for one in found.used] == ["sites"]


def test_what_shredding_would_take_away_is_what_it_takes(visits: World) -> None:
    visits.push("shifts")
    other = {**SITES, "name": "other"}
    datasets.register(visits.server, OPERATOR, DatasetRequest.model_validate(other))
    visits.push("elsewhere", dataset="other")
    held = [visits.ask(name).view.id for name in ("pia", "ines")]
    visits.ask("ines", epsilon=0.2)
    foreseen = key_status.preview_shredding(visits.server, OPERATOR, "SITES")
    assert (foreseen.dataset, foreseen.versions) == ("sites", [1])
    assert [(one.query, one.status, one.holders) for one in foreseen.queries] == [
        ("visits", "active", 2),
        ("shifts", "active", 0),
    ]
    done = key_rotation.shred(visits.server, OPERATOR, "sites")
    assert (done.versions, done.queries) == (foreseen.versions, len(foreseen.queries))
    with visits.server.database.read() as session:
        retired = session.exec(select(Query.name).where(col(Query.status) == "retired")).all()
    assert sorted(retired) == sorted(one.query for one in foreseen.queries)
    for name, release in zip(("pia", "ines"), held, strict=True):
        with pytest.raises(PenstockError) as refused:
            history.values(visits.server, visits.person(name), release)
        assert not isinstance(refused.value, IntegrityViolation)
    after = key_status.preview_shredding(visits.server, OPERATOR, "sites")
    assert (after.versions, after.queries) == ([], [])
    assert [key_rotation.readable(visits.server, name) for name in ("sites", "other")] == [
        False,
        True,
    ]


def test_only_admins_look_and_only_at_what_is_there(visits: World) -> None:
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            key_status.look(visits.server, visits.person(name))
        with pytest.raises(Forbidden):
            key_status.preview_shredding(visits.server, visits.person(name), "sites")
    with pytest.raises(NotFound):
        key_status.preview_shredding(visits.server, OPERATOR, "absent")


def test_a_stream_of_a_shredded_dataset_stays_in_sight_and_so_do_all_others(
    visits: World,
) -> None:
    """Who lists streams is not stopped by one of which nothing can be read any more."""
    request = StreamRequest.model_validate(STREAM)
    other = DatasetRequest.model_validate({**SITES, "name": "other"})
    datasets.register(visits.server, OPERATOR, other)
    for name, dataset in (("arrivals", "sites"), ("elsewhere", "other")):
        spec = request.model_copy(update={"name": name, "dataset": dataset})
        streams.open_stream(visits.server, OPERATOR, spec)
    before = streams.listing(visits.server, OPERATOR, Window()).items
    key_rotation.shred(visits.server, OPERATOR, "sites")
    gone, kept = streams.listing(visits.server, OPERATOR, Window()).items
    assert kept == before[1]
    assert (gone.status, {tier.first for tier in gone.tiers}) == ("retired", {None})
    assert [tier.guarantee for tier in gone.tiers] == [one.guarantee for one in before[0].tiers]
    assert streams.show(visits.server, visits.person("ines"), "arrivals").name == "arrivals"
