"""Test that a query in SQL is registered and previewed as its spec, and leaks no columns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.services.datasets.stays import BY_TOWN, query, register, written
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.jobs import registrations
from penstock.services.previews import query_preview
from penstock.services.queries import queries
from penstock.services.queries.sql.statements import resolved
from penstock.services.schemas.queries import ComputedQueryRequest, SqlRequest

STATEMENT = "SELECT town, COUNT(DISTINCT person) FROM stays GROUP BY town"
SENT: dict[str, Any] = {
    "name": "by_town",
    "sql": STATEMENT,
    **{name: BY_TOWN[name] for name in ("contribution", "mechanism", "levels")},
}


def request_of(**changes: object) -> SqlRequest:
    return SqlRequest.model_validate({**SENT, **changes})


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    register(world, written(tmp_path)[0])
    return world


def test_a_statement_is_the_spec_that_it_says(stays: World) -> None:
    spec = resolved(stays.server, OPERATOR, request_of(max_levels=8))
    assert spec == ComputedQueryRequest.model_validate({**BY_TOWN, "max_levels": 8})
    assert spec.model_fields_set == {*BY_TOWN, "max_levels"}


def test_a_statement_is_registered_and_shown_as_one(stays: World) -> None:
    view = registrations.query(stays.server, OPERATOR, request_of())
    assert view.spec_sql == ('SELECT "town", COUNT(DISTINCT "person")\nFROM "stays"\nGROUP BY 1')
    assert queries.show(stays.server, OPERATOR, "by_town") == view
    again = queries.show(stays.server, stays.person("pia"), "by_town")
    assert again.spec_sql == view.spec_sql
    assert stays.ask("pia", "by_town").view.values.size == 3


@pytest.mark.parametrize("first", ["spec", "statement"])
def test_one_statistic_is_registered_once_in_whatever_words(stays: World, first: str) -> None:
    acts: dict[str, Callable[[], object]] = {
        "spec": lambda: query(stays, name="spec"),
        "statement": lambda: registrations.query(
            stays.server, OPERATOR, request_of(name="statement")
        ),
    }
    acts.pop(first)()
    ((_, again),) = acts.items()
    with pytest.raises(Conflict, match=f"registered already, as query '{first}'"):
        again()


def test_a_preview_reads_no_data_and_shows_the_statement(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.connectors.planning.prepare.answer", None)
    monkeypatch.setattr("penstock.connectors.planning.prepare.check_registered", None)
    preview = query_preview.preview(stays.server, stays.person("pia"), request_of())
    assert preview.spec_sql is not None
    assert (preview.query, preview.dataset, preview.notes) == ("by_town", "stays", [])
    spec = ComputedQueryRequest.model_validate(BY_TOWN)
    assert preview == query_preview.preview(stays.server, stays.person("pia"), spec)


def test_a_preview_says_which_rows_are_left_out(stays: World) -> None:
    request = request_of(
        sql="SELECT COUNT(*), VAR_POP(visits) FROM stays",
        mechanism="gaussian",
        contribution={"max_rows_per_group": 1},
    )
    preview = query_preview.preview(stays.server, OPERATOR, request)
    assert ["visits IS NOT NULL" in note for note in preview.notes] == [True]


def hidden(world: World) -> Principal:
    """Return somebody at a tier to which the dataset of stays has no budget."""
    return world.person("pia")


def test_a_dataset_out_of_sight_is_one_that_does_not_exist(world: World, tmp_path: Path) -> None:
    register(world, written(tmp_path)[0], budgets={"internal": {"epsilon": 8.0}})
    refusals = []
    for name in ("stays", "absent"):
        for statement in (STATEMENT, "SELECT AVG(salary) FROM stays WHERE town = 'x'"):
            request = request_of(sql=statement.replace("stays", name))
            with pytest.raises(NotFound) as refused:
                query_preview.preview(world.server, hidden(world), request)
            refusals.append(refused.value.detail.replace(name, "it"))
    assert set(refusals) == {"There is no dataset 'it'."}
    shown = query_preview.preview(
        world.server, world.person("ines"), request_of(levels={"internal": {"epsilon": 1}})
    )
    assert shown.dataset == "stays"


def test_columns_are_named_to_those_who_may_see_the_dataset(stays: World) -> None:
    request = request_of(sql="SELECT AVG(salary) FROM stays")
    with pytest.raises(InvalidInput, match="it declares person, town, visits") as refused:
        query_preview.preview(stays.server, stays.person("pia"), request)
    assert [place for place, _ in refused.value.errors] == ["/sql"]


def test_a_refusal_of_the_terms_keeps_its_place(stays: World) -> None:
    with pytest.raises(InvalidInput) as refused:
        resolved(stays.server, OPERATOR, request_of(contribution={}))
    assert [place for place, _ in refused.value.errors] == ["/contribution/max_groups"]


def test_only_admins_register_in_sql(stays: World) -> None:
    with pytest.raises(Forbidden):
        registrations.query(stays.server, stays.person("ines"), request_of())
    with pytest.raises(Forbidden):
        resolved(stays.server, stays.person("otto"), request_of())
