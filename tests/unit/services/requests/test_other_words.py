"""Test that the same statistic in other words leads to the query that is registered."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.unit.services.datasets.stays import BY_TOWN
from tests.unit.services.requests.requesting import LEVELS, ask, decide, listed, problems
from tests.unit.worlds import World

from penstock.connectors.planning import prepare
from penstock.errors import Conflict
from penstock.services.access.principals import OPERATOR
from penstock.services.previews.query_preview import preview
from penstock.services.queries import queries, registration
from penstock.services.schemas.queries import ComputedQueryRequest, LevelsChange

MORE: list[dict[str, Any]] = [{"column": "visits", "op": ">", "value": 1}]
AT_LEAST: list[dict[str, Any]] = [{"column": "visits", "op": ">=", "value": 2}]
NOT_LESS: list[dict[str, Any]] = [{"not": {"column": "visits", "op": "<=", "value": 1}}]


def spec(name: str, where: list[dict[str, Any]], **changes: Any) -> ComputedQueryRequest:
    spec = {**BY_TOWN, "levels": LEVELS, "name": name, "where": where, **changes}
    return ComputedQueryRequest.model_validate(spec)


def register(world: World, name: str, where: list[dict[str, Any]]) -> str:
    return registration.register(world.server, OPERATOR, spec(name, where)).name


@contextmanager
def earlier_version() -> Iterator[None]:
    """Let the server hash conditions as they are spelled, as earlier versions did."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepare, "simplest_plan", lambda plan: plan)
        yield


def started_again(world: World) -> World:
    """Return the world with a server that has looked at nothing yet."""
    return dataclasses.replace(world, server=dataclasses.replace(world.server, earlier_hashes={}))


def test_the_same_in_other_words_is_refused_by_name_and_answered(stays: World) -> None:
    register(stays, "more", MORE)
    with pytest.raises(Conflict, match="registered already, as query 'more'"):
        register(stays, "at_least", AT_LEAST)
    answer = ask(stays, where=NOT_LESS, name="not_less")
    assert (answer.state, answer.query) == ("answered", "more")
    # Another statistic has another hash.
    assert register(stays, "larger", [{**MORE[0], "value": 2}]) == "larger"


def test_equal_requests_in_other_words_are_one(stays: World) -> None:
    first = ask(stays, where=MORE)
    ask(stays, "iris", where=AT_LEAST, name="at_least")
    (one,) = listed(stays, "ada", "open")
    assert [asker.user for asker in one.askers] == ["ines", "iris"]
    decide(stays, "ada", first, "approve")
    assert [view.query for view in listed(stays, "iris")] == ["by_town"]
    assert problems(stays) == []


@pytest.mark.parametrize("where", [MORE, AT_LEAST, NOT_LESS])
def test_a_statistic_of_an_earlier_version_is_found_in_other_words(
    stays: World, where: list[dict[str, Any]]
) -> None:
    with earlier_version():
        register(stays, "more", MORE)
    world = started_again(stays)
    with pytest.raises(Conflict, match="registered already, as query 'more'"):
        register(world, "another", where)
    with pytest.raises(Conflict, match="registered already, as query 'more'"):
        preview(world.server, OPERATOR, spec("another", where))
    answer = ask(world, where=where, name="another")
    assert (answer.state, answer.query) == ("answered", "more")


def test_a_query_of_an_earlier_version_is_read_again_by_its_text(stays: World) -> None:
    with earlier_version():
        register(stays, "more", MORE)
    world = started_again(stays)
    raised = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 1.0}}})
    assert queries.change(world.server, OPERATOR, "more", raised).name == "more"
    assert problems(world) == []


def test_what_an_earlier_version_left_is_finished(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("The power failed.")

    with earlier_version(), monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", fail)
        with pytest.raises(RuntimeError):
            register(stays, "more", MORE)
    world = started_again(stays)
    assert register(world, "more", MORE) == "more"
    assert problems(world) == []


def test_two_statistics_of_an_earlier_version_stay_two(stays: World) -> None:
    """It drew the same twice; both give releases, and new words lead to the first one."""
    with earlier_version():
        register(stays, "more", MORE)
        register(stays, "at_least", AT_LEAST)
    world = started_again(stays)
    raised = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 1.0}}})
    for name in ("more", "at_least"):
        queries.change(world.server, OPERATOR, name, raised)
    assert ask(world, where=NOT_LESS, name="not_less").query == "more"
