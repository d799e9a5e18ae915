"""Test how much one person may add in a day; what others were given plays no part in it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.worlds import World

from penstock.errors import QuotaUsedUp
from penstock.persistence.row_numbers import required
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.releases.quota import TOKENS, counted
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec


def limited(world: World, **settings: Any) -> World:
    """Return the world under other limits."""
    return replace(
        world,
        server=replace(world.server, settings=world.server.settings.model_copy(update=settings)),
    )


def test_so_many_levels_are_handed_out_in_a_day_and_no_more(visits: World) -> None:
    world = limited(visits, levels_per_day=2)
    first = world.ask("ines", epsilon=0.11)
    world.ask("ines", epsilon=0.12)
    with pytest.raises(QuotaUsedUp, match="2 levels") as refused:
        world.ask("ines", epsilon=0.13)
    assert refused.value.data["retry_after"] == timedelta(days=1).total_seconds()
    assert world.ask("ines", epsilon=0.11).view.id == first.view.id  # held already
    assert world.ask("ines").first  # the level of a tier is always given
    world.clock.forward(days=1)
    assert world.ask("ines", epsilon=0.13).first


def test_levels_of_tiers_do_not_count(visits: World) -> None:
    world = limited(visits, levels_per_day=1, level_bytes_per_day=8 * 3)
    for tier in ("public", "partner", "internal"):
        assert world.ask("ines", tier=tier).first
    assert world.ask("ines", epsilon=0.11).first
    with pytest.raises(QuotaUsedUp):
        world.ask("ines", epsilon=0.12)


def test_so_many_bytes_are_handed_out_in_a_day_and_no_more(visits: World) -> None:
    world = limited(visits, level_bytes_per_day=1)
    world.ask("ines", epsilon=0.11)
    with pytest.raises(QuotaUsedUp, match="bytes"):
        world.ask("ines", epsilon=0.12)


def test_nothing_is_a_limit_where_none_is_set(visits: World) -> None:
    world = limited(visits, levels_per_day=0, level_bytes_per_day=0)
    assert all(world.ask("ines", epsilon=0.1 + n / 100).first for n in range(1, 4))


@pytest.mark.only("sqlite")
def test_a_worker_adds_later_hand_outs_to_what_it_counted(visits: World) -> None:
    """Those of other workers are among them; a sum that a clock set back spoils is not used."""
    world, ines = limited(visits, levels_per_day=4), required(visits.person("ines").user_id)
    other = replace(world, server=replace(world.server, counted={}))
    world.ask("ines", epsilon=0.11)
    world.ask("ines", epsilon=0.12)
    known = world.server.counted[ines]
    assert (known.levels, known.last > 0) == (1, True)
    assert other.ask("ines", epsilon=0.13).first
    assert world.ask("ines", epsilon=0.14).first
    assert world.server.counted[ines].levels == 3
    for worker in (world, other):
        with pytest.raises(QuotaUsedUp, match="4 levels"):
            worker.ask("ines", epsilon=0.15)
    last = limited(world, levels_per_day=0, level_bytes_per_day=4 * known.size + 1)
    assert last.ask("ines", epsilon=0.15).first
    with pytest.raises(QuotaUsedUp, match="bytes"):
        last.ask("ines", epsilon=0.16)
    later = known.since + timedelta(days=2)
    world.server.counted[ines] = replace(known, since=later)
    assert counted(world.server, "sqlite", ines).last == 0
    assert counted(other.server, "postgresql", ines).last == 0


def test_nobody_is_refused_for_what_is_a_day_old(visits: World) -> None:
    """The sum of a worker has it still, and so all is counted again."""
    world = limited(visits, levels_per_day=3)
    for epsilon in (0.11, 0.12):
        world.ask("ines", epsilon=epsilon)
    world.clock.forward(days=1)
    for epsilon in (0.13, 0.14, 0.15):
        assert world.ask("ines", epsilon=epsilon).first
    with pytest.raises(QuotaUsedUp, match="3 levels") as refused:
        world.ask("ines", epsilon=0.16)
    assert refused.value.data["retry_after"] == timedelta(days=1).total_seconds()


def test_what_others_were_given_neither_costs_nor_shows(visits: World) -> None:
    """A level that is stored already is refused like one that would be drawn, in the same words."""
    world = limited(visits, levels_per_day=2)
    users.create(
        world.server, OPERATOR, UserSpec(name="pete", roles=["analyst"], clearance="internal")
    )
    for epsilon in (0.11, 0.12):
        world.ask("pete", epsilon=epsilon)
        world.ask("ines", epsilon=epsilon)
    wide = limited(visits, levels_per_day=3)
    wide.ask("pete", epsilon=0.13)
    told = []
    for epsilon in (0.13, 0.14):  # the first of them is stored
        with pytest.raises(QuotaUsedUp) as refused:
            world.ask("ines", epsilon=epsilon)
        told.append((refused.value.detail, refused.value.data))
    assert told[0] == told[1]


def test_so_many_tokens_are_made_in_a_day_however_many_were_revoked(world: World) -> None:
    world, spec = limited(world, tokens_per_user=2), TokenSpec()
    ines = world.person("ines")

    def make() -> None:
        made = tokens.issue(world.server, ines, "ines", spec)
        tokens.revoke(world.server, ines, "ines", made.prefix)

    for _ in range(2 * TOKENS):
        make()
    with pytest.raises(QuotaUsedUp, match="8 tokens") as refused:
        make()
    assert refused.value.data["retry_after"] == timedelta(days=1).total_seconds()
    assert tokens.issue(world.server, OPERATOR, "ines", spec).user == "ines"
    world.clock.forward(days=1)
    make()
