"""Test lists of users: all of them are created in one transaction, or none."""

from dataclasses import replace
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput, LogUnavailable
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.people import user_lists, users
from penstock.services.schemas.people.users import UserList

NEW: list[dict[str, Any]] = [
    {"name": "lea", "roles": ["auditor", "analyst"], "clearance": "internal"},
    {"name": "max", "roles": ["auditor"]},
]


def listed(*more: dict[str, Any], dry_run: bool = False) -> UserList:
    return UserList.model_validate({"users": [*NEW, *more], "dry_run": dry_run})


def names(world: World) -> list[str]:
    return [user.name for user in users.listing(world.server, OPERATOR, Window()).items]


def leaves(world: World) -> list[tuple[str, str | None]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf).where(col(Leaf.kind) == "user").order_by(col(Leaf.id)))
        return [(leaf.actor, leaf.user) for leaf in rows]


def test_users_of_a_list_are_as_if_created_singly_with_a_leaf_each(world: World) -> None:
    before = leaves(world)
    view = user_lists.create(world.server, world.person("ada"), listed())
    assert [(user.name, user.roles, user.clearance) for user in view.users] == [
        ("lea", ["analyst", "auditor"], "internal"),
        ("max", ["auditor"], None),
    ]
    lea = users.show(world.server, OPERATOR, "lea")
    assert (lea.roles, lea.clearance) == (["analyst", "auditor"], "internal")
    assert leaves(world) == [*before, ("ada", "lea"), ("ada", "max")]


def test_a_dry_run_answers_the_same_and_creates_nobody(world: World) -> None:
    before = names(world), leaves(world)
    dry = user_lists.create(world.server, OPERATOR, listed(dry_run=True))
    assert (names(world), leaves(world)) == before
    assert user_lists.create(world.server, OPERATOR, listed()) == replace(dry, dry_run=False)


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_refusal_names_every_wrong_place_and_creates_nobody(world: World, dry_run: bool) -> None:
    before = names(world), leaves(world)
    wrong = (
        {"name": "LEA", "roles": ["analyst"]},
        {"name": "Pia", "roles": ["analyst"], "clearance": "moon"},
        {"name": "Operator", "roles": ["analyst"]},
    )
    with pytest.raises(InvalidInput) as refused:
        user_lists.create(world.server, OPERATOR, listed(*wrong, dry_run=dry_run))
    assert [place for place, _ in refused.value.errors] == [
        "/users/2/name",
        "/users/3/name",
        "/users/3/clearance",
        "/users/4/name",
    ]
    words = " ".join(words for _, words in refused.value.errors)
    for part in ("twice", "'pia' is taken", "no tier 'moon'", "'operator' is taken"):
        assert part in words
    assert (names(world), leaves(world)) == before


def test_a_file_is_refused_by_its_lines(world: World) -> None:
    rows = "lea,analyst,public\n\nPia,analyst,moon\nmax,king,\nLEA,analyst,\nx,y\n"
    with pytest.raises(InvalidInput) as refused:
        user_lists.read_file(world.server, OPERATOR, f"name,roles,clearance\n{rows}".encode())
    assert [words.partition(":")[0] for _, words in refused.value.errors] == [
        *("line 4, clearance", "line 4, name", "line 5, roles", "line 6, name", "line 7")
    ]


def test_each_cell_of_a_line_is_looked_up_whatever_is_wrong_beside_it(world: World) -> None:
    rows = "pia,king,moon\n,analyst,moon\nnew,analyst,no tier\x07\nNEW,king,public\n"
    with pytest.raises(InvalidInput) as refused:
        user_lists.read_file(world.server, OPERATOR, f"name,roles,clearance\n{rows}".encode())
    places = [words.partition(":")[0] for _, words in refused.value.errors]
    assert places == [
        *("line 2, clearance", "line 2, name", "line 2, roles"),
        *("line 3, clearance", "line 3, name", "line 4, clearance"),
        *("line 5, name", "line 5, roles"),
    ]


def test_a_failure_at_the_last_user_takes_all_before_with_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(world), leaves(world)
    add = users.add

    def broken(*arguments: Any, **more: Any) -> object:
        if arguments[-1].name == "max":
            raise LogUnavailable("The log is not available.")
        return add(*arguments, **more)

    monkeypatch.setattr(users, "add", broken)
    with pytest.raises(LogUnavailable):
        user_lists.create(world.server, OPERATOR, listed())
    assert (names(world), leaves(world)) == before


def test_under_the_two_person_rule_only_the_operator_lists_admins(world: World) -> None:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(world.server, settings=settings)
    before = names(world)
    several = listed({"name": "eve", "roles": ["analyst", "admin"]})
    for spec in (several, several.model_copy(update={"dry_run": True})):
        with pytest.raises(Forbidden, match="only the operator makes admins"):
            user_lists.create(ruled, world.person("ada"), spec)
    assert names(world) == before
    user_lists.create(ruled, world.person("ada"), listed())
    user_lists.create(ruled, OPERATOR, UserList.model_validate({"users": several.users[2:]}))
    assert names(world) == [*before, "lea", "max", "eve"]


@pytest.mark.parametrize("name", ["pia", "otto"])
def test_only_admins_list_users(world: World, name: str) -> None:
    for dry_run in (False, True):
        with pytest.raises(Forbidden):
            user_lists.create(world.server, world.person(name), listed(dry_run=dry_run))
    with pytest.raises(Forbidden):
        user_lists.read_file(world.server, world.person(name), b"name,roles,clearance")
