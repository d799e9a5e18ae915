"""Test that texts hold from a registration on, and change nothing but themselves."""

import json
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.services.logged import leaves
from tests.unit.sites import SITES
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import InvalidInput
from penstock.persistence.tables import Charge, Query, QueryLevel, Wording
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.queries import queries
from penstock.services.rewording import of_query
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.wordings.wordings import settle

TEXTS: dict[str, Any] = {
    "title": "Visits by site",
    "description": "One line.\nAnother.",
    "unit": "visits",
    "tags": ["health"],
    "labels": {"0": "North"},
    "owners": ["ADA"],
}
KEPT = {**TEXTS, "owners": ["ada"]}


def test_a_registration_with_texts_answers_them(world: World) -> None:
    made = world.push(**TEXTS)
    assert {name: getattr(made, name) for name in KEPT} == KEPT
    assert queries.show(world.server, OPERATOR, "visits") == made


def test_texts_are_in_no_spec_and_no_hash(world: World) -> None:
    world.push("plain", share=0.01, levels=None)
    world.push("worded", share=0.01, levels=None, **TEXTS)
    with world.server.database.read() as session:
        plain, worded = session.exec(select(Query).order_by(col(Query.id))).all()
    assert json.loads(plain.spec) == {**json.loads(worded.spec), "name": "plain"}
    assert not any(name in json.loads(worded.spec) for name in TEXTS)
    assert plain.canonical_hash == worded.canonical_hash


def test_a_change_of_texts_charges_nothing_and_moves_no_level(world: World) -> None:
    world.push()

    def decisive() -> list[object]:
        with world.server.database.read() as session:
            rows: list[object] = []
            for table in (Charge, Query, QueryLevel):
                rows += [row.model_dump() for row in session.exec(select(table)).all()]
            return rows

    before, number = decisive(), len(leaves(world))
    assert of_query(world.server, OPERATOR, "visits", TEXTS).title == KEPT["title"]
    assert decisive() == before
    assert [leaf["kind"] for leaf in leaves(world)[number:]] == ["wording"]


def test_the_same_texts_again_leave_no_leaf(world: World) -> None:
    world.push(**TEXTS)
    number = len(leaves(world))
    of_query(world.server, OPERATOR, "visits", KEPT)
    assert len(leaves(world)) == number


def test_the_title_of_the_first_attempt_holds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, lambda: world.push(title="First"))
    assert world.push(title="Second").title == "First"
    with world.server.database.read() as session:
        assert [row.title for row in session.exec(select(Wording)).all()] == ["First"]


def test_an_attempt_without_texts_leaves_them_to_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, world.push)
    assert world.push(title="Second").title == "Second"


def test_owners_are_users(world: World) -> None:
    world.push()
    with pytest.raises(InvalidInput) as refused:
        of_query(world.server, OPERATOR, "visits", {"owners": ["ada", "nobody", "none"]})
    assert [place for place, _ in refused.value.errors] == ["/owners/1", "/owners/2"]


def test_analysts_name_only_themselves_and_learn_of_no_other_user(world: World) -> None:
    world.push()
    with world.server.database.write() as session:
        query = session.exec(select(Query)).one()
        analyst = world.person("pia")
        details = set()
        for name in ("ada", "nobody"):
            request = DatasetRequest.model_validate({**SITES, "owners": [name]})
            with pytest.raises(InvalidInput) as refused:
                settle(session, world.server, analyst, query, request, fresh=True)
            details.add(refused.value.detail)
        assert len(details) == 1
        request = DatasetRequest.model_validate({**SITES, "owners": ["PIA"]})
        own = settle(session, world.server, analyst, query, request, fresh=True)
        assert own.owners == ["pia"]


def test_a_dataset_of_a_withdrawn_name_has_no_title_of_before(world: World) -> None:
    titled = DatasetRequest.model_validate({**SITES, "name": "others", "title": "Old"})
    assert datasets.register(world.server, OPERATOR, titled).title == "Old"
    corrections.withdraw(world.server, OPERATOR, "others")
    plain = DatasetRequest.model_validate({**SITES, "name": "others"})
    assert datasets.register(world.server, OPERATOR, plain).title == ""
