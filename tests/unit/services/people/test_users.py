"""Test tiers, users and tokens: who may do what, from when on, until when."""

import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.persistence.tables import Charge, Clearance, Leaf, QueryLevel, Tier, TierBudget
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tiers, tokens, users
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec


def admin(world: World) -> Principal:
    return world.person("ada")


def test_a_tier_between_two_starts_with_what_the_lower_one_has(visits: World) -> None:
    inserted = tier_changes.create(
        visits.server, OPERATOR, TierSpec(name="trusted", above="partner")
    )
    names = [tier.name for tier in tiers.listing(visits.server)]
    assert names == ["public", "partner", "trusted", "internal"]
    assert 20 < inserted.rank < 30
    with visits.server.database.read() as session:
        ids = {tier.name: tier.id for tier in session.exec(select(Tier)).all()}
        for table in (TierBudget, Charge, QueryLevel):
            rows = {
                name: [
                    row.model_dump(exclude={"id", "tier_id", "at", "by", "mac"})
                    for row in session.exec(
                        select(table).where(col(table.tier_id) == ids[name])
                    ).all()
                ]
                for name in ("partner", "trusted")
            }
            assert rows["partner"] == rows["trusted"] != []
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="trusted"))
    partner = visits.ask("paul").view
    assert list(visits.ask("pia").view.values) == list(partner.values)


def test_a_tier_below_all_has_no_budget_and_sees_nothing(visits: World) -> None:
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="press", rank=1))
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="press"))
    with pytest.raises(NotFound):
        visits.ask("pia")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"name": "x", "rank": 10}, "Rank 10"),
        ({"name": "x", "rank": 5, "above": "public"}, "not both"),
    ],
)
def test_a_tier_at_no_place_of_its_own_is_refused(
    world: World, spec: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        tier_changes.create(world.server, OPERATOR, TierSpec.model_validate(spec))


def test_a_gap_between_ranks_runs_out_in_plain_words(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="next", rank=11))
    with pytest.raises(InvalidInput, match="No whole rank is free"):
        tier_changes.create(world.server, OPERATOR, TierSpec(name="between", above="public"))


def test_the_last_admin_stays_one_unless_the_operator_decides(world: World) -> None:
    ada = admin(world)
    for number in range(2):
        with pytest.raises(Conflict, match=r"the only admin.*Make another user"):
            users.disable(world.server, ada, "ADA")
        with pytest.raises(Conflict, match="ada is the only admin"):
            users.change(world.server, ada, "ada", UserChange(roles=["auditor"]))
        assert users.show(world.server, ada, "ada").roles == ["admin"]
        # Somebody who is shut out is no admin.
        users.create(world.server, ada, UserSpec(name=f"eve{number}", roles=["admin"]))
        users.disable(world.server, ada, f"eve{number}")
    users.change(world.server, ada, "ada", UserChange(roles=["admin", "auditor"]))
    users.change(world.server, ada, "otto", UserChange(roles=["admin"]))
    assert not users.disable(world.server, ada, "ada").active
    assert not users.disable(world.server, OPERATOR, "otto").active


def test_a_name_that_is_taken_is_named_as_it_is(world: World) -> None:
    with pytest.raises(NameTaken, match="'public'"):
        tier_changes.create(world.server, OPERATOR, TierSpec(name="PUBLIC"))
    with pytest.raises(NameTaken, match="'pia'"):
        users.create(world.server, OPERATOR, UserSpec(name="Pia", roles=["analyst"]))
    with pytest.raises(NameTaken, match="'operator'"):
        users.create(world.server, OPERATOR, UserSpec(name="OPERATOR", roles=["admin"]))


def test_names_of_tiers_and_users_are_taken_whatever_their_case(world: World) -> None:
    with pytest.raises(NameTaken):
        tier_changes.create(world.server, OPERATOR, TierSpec(name="PUBLIC"))
    with pytest.raises(NameTaken):
        users.create(world.server, OPERATOR, UserSpec(name="Pia", roles=["analyst"]))
    with pytest.raises(NameTaken):
        users.create(world.server, OPERATOR, UserSpec(name="operator", roles=["admin"]))


def test_a_clearance_that_does_not_exist_is_refused_and_loses_nothing(world: World) -> None:
    with pytest.raises(InvalidInput, match="no tier 'moon'"):
        users.change(world.server, OPERATOR, "pia", UserChange(clearance="moon"))
    assert users.show(world.server, OPERATOR, "pia").clearance == "public"


def test_a_clearance_is_taken_away_with_null_and_kept_when_left_out(world: World) -> None:
    kept = users.change(world.server, OPERATOR, "pia", UserChange(roles=["analyst", "auditor"]))
    assert kept.clearance == "public"
    taken = users.change(world.server, OPERATOR, "pia", UserChange(clearance=None))
    assert taken.clearance is None
    with world.server.database.read() as session:
        versions = session.exec(
            select(Clearance.version).order_by(col(Clearance.id).desc()).limit(1)
        ).one()
    assert versions == 2


def test_every_change_of_a_clearance_is_a_leaf_and_a_repeat_is_none(world: World) -> None:
    for _ in range(2):
        users.change(world.server, admin(world), "pia", UserChange(clearance="internal"))
    with world.server.database.read() as session:
        leaves = session.exec(select(Leaf).where(col(Leaf.kind) == "clearance")).all()
    assert [(leaf.actor, leaf.user) for leaf in leaves] == [("ada", "pia")]


@pytest.mark.parametrize("name", ["pia", "otto"])
def test_only_admins_change_people_and_tiers(world: World, name: str) -> None:
    person = world.person(name)
    with pytest.raises(Forbidden):
        users.change(world.server, person, "pia", UserChange(clearance="internal"))
    with pytest.raises(Forbidden):
        users.create(world.server, person, UserSpec(name="new", roles=["admin"]))
    with pytest.raises(Forbidden):
        tier_changes.create(world.server, person, TierSpec(name="new"))
    with pytest.raises(Forbidden):
        users.listing(world.server, person, Window())


def test_only_an_admin_reaches_the_tokens_of_others(world: World) -> None:
    with pytest.raises(Forbidden):
        tokens.issue(world.server, world.person("pia"), "paul", TokenSpec())
    with pytest.raises(Forbidden):
        tokens.listing(world.server, world.person("otto"), "paul", Window())


def test_a_list_comes_in_pages_that_join_without_gap(world: World) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = users.listing(world.server, OPERATOR, Window.parse("2", cursor))
        seen += [user.name for user in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ["pia", "paul", "ines", "ada", "otto"]


def test_a_cursor_names_the_last_row_of_its_page() -> None:
    cursor = Window(limit=1).page([12, 13], str, int).next_cursor
    assert cursor is not None
    assert Window.parse(None, cursor).after == 12
    assert Window(limit=2).page([12, 13], str, int).next_cursor is None
    for other in (f"-{cursor}", f"+{cursor}", f" {cursor}", f"{cursor}_0", f"{cursor}.0"):
        with pytest.raises(InvalidInput, match="begin again without it"):
            Window.parse(None, other)


@pytest.mark.parametrize(
    "cursor", ["", "x", "YWZ0ZXI6", "YWZ0ZXI6LTE", "é", "YWZ0ZXI6eA", "A" * 99]
)
def test_a_cursor_of_somebody_elses_making_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        Window.parse(None, cursor)
