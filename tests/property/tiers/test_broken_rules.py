"""Test rules that are broken one by one, which the checks of the machine must find out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from sqlmodel import Session
from tests.databases.homes import SQLITE
from tests.property.machines import Machines
from tests.property.tiers.machine import ACTS, Rules

from penstock.accounting import Entry, charge, entry
from penstock.persistence.tables import Query, Tier
from penstock.privacy import Target
from penstock.services import budgets
from penstock.services.ledger import effective_levels
from penstock.services.ledger.accounts import TierAccount
from penstock.services.noise import lossless_levels
from penstock.services.noise.independent_levels import IndependentLevels
from penstock.services.noise.level_rule import LevelRule, Opened
from penstock.services.releases.known_queries import KnownQuery
from penstock.services.repository.people import ordered_tiers


def lowered_and_moved(machine: Rules) -> None:
    """Lower a level, and move its tier: those above it then pay for what it was once allowed."""
    machine.register("gaussian", 4, 0.2, 4)  # mid and high
    machine.change_levels(7 * 1 + 1, 0.1)
    machine.change_budgets(0, 9.0)
    machine.move_tier(1, 5)


def raised(machine: Rules) -> None:
    machine.register("laplace", 3, 0.1, 1.5)
    machine.scale_levels(0, 2.0)


def held_and_deleted(machine: Rules) -> None:
    """Let a holder of a deleted tier pool what they kept with what others are given."""
    machine.clear("cyd", 1)
    machine.delete_tier(2)
    machine.register("gaussian", 1, 0.4, 1)


def asked(machine: Rules) -> None:
    machine.register("poisson", 6, 0.1, 4)
    machine.everybody_asks(1, 0.4)


def seen_twice(machine: Rules) -> None:
    """Release several levels that are independent draws, which add up."""
    machine.register("generalized_gaussian", 4, 0.2, 4)  # mid and high


def seen_and_lowered(machine: Rules) -> None:
    """Give up a level that was seen, so that the next one is a draw beside it."""
    seen_twice(machine)
    machine.change_levels(7 * 2 + 1, 0.4)
    machine.change_levels(7 * 2 + 1, 1.6)


def asked_for_others(machine: Rules) -> None:
    """Request a noisier level of a tier above, which is not one's own."""
    machine.register("generalized_gaussian", 6, 0.1, 4)  # low, mid and high
    machine.change_levels(7 * 2 + 1, 0.2)
    machine.change_levels(1, 0.8)
    machine.everybody_asks(1, 0.2)


def granted_more(machine: Rules) -> None:
    """Grant a larger budget, under which the error of samplers costs more."""
    machine.register("poisson", 6, 1.6, 1)  # low, mid and high
    machine.change_budgets(0, 12.0)


def every_act(machine: Rules) -> None:
    """Do everything that the machine can do once; none of it is refused."""
    machine.register("gaussian", 6, 0.1, 1.5)  # low, mid and high
    machine.register("laplace", 6, 0.1, 1.5)
    machine.insert_tier(1)
    machine.change_levels(7 * 2 + 1, 0.4)
    machine.scale_levels(0, 1.25)
    machine.change_budgets(3, 12.0)
    machine.clear("ann", 2)
    machine.everybody_asks(1, 0.4)
    machine.move_tier(0, 5)
    machine.retire(0)
    machine.clear("ann", 5)  # nobody's clearance
    machine.delete_tier(1)


STORIES = [
    *(every_act, lowered_and_moved, raised, held_and_deleted, asked),
    *(seen_twice, seen_and_lowered, asked_for_others, granted_more),
]
Story = Callable[[Rules], None]


def told(story: Story, machines: Machines) -> None:
    """Run ``story``, and check after each of its steps."""
    machine = machines()
    try:
        for name in sorted(ACTS):
            act = getattr(machine, name)
            setattr(machine, name, _checked(machine, act))
        story(machine)
        machine.everything_is_paid_for()
        machine.end()
    finally:
        machine.server.database.close()


def _checked(machine: Rules, act: Callable[..., None]) -> Callable[..., None]:
    def checked(*arguments: object) -> None:
        act(*arguments)
        machine.everything_is_paid_for()

    return checked


@pytest.mark.only(SQLITE)
@pytest.mark.parametrize("story", STORIES)
def test_the_stories_hold(machines: Machines, story: Story) -> None:
    told(story, machines)


@pytest.mark.only(SQLITE)
def test_the_machine_can_do_every_act(machines: Machines) -> None:
    told(every_act, machines)
    assert {act for kind, act in machines.tried if kind == "done"} == ACTS


def forgetful(
    query: Query,
    tiers: Sequence[Tier],
    accounts: Mapping[int, TierAccount],
    before: Mapping[int, effective_levels.Charged],
    allowed: effective_levels.Rungs,
) -> Iterable[effective_levels.Due]:
    """Return dues that know what is allowed now, and not what was."""
    now = {tier: known for tier, known in before.items() if allowed.get(tier) is None}
    for due in KEPT(query, tiers, accounts, now, allowed):
        known = before.get(due.account.tier.id or 0)
        if known is None or due.rung < known.rung:
            yield due


def by_difference(*_: object, charged: Entry, new: Fraction, **more: Any) -> Entry:
    mechanism, ladder = _
    cost = charge(
        mechanism,  # type: ignore[arg-type]  # as recharging passes them
        ladder,  # type: ignore[arg-type]
        new,
        more["sensitivity"],
        more["account"],
        more["dimension"],
        more["level_count"],
    )
    whole = entry(cost)
    return Entry(whole.loss - charged.loss, max(whole.failure - charged.failure, 0))


def in_sight(session: Session) -> list[Tier]:
    return list(ordered_tiers(session))


def best_alone(_: LevelRule, rungs: Iterable[int]) -> list[int]:
    return sorted(rungs)[:1]


def price_of_the_finest(
    query: Query, account: TierAccount, known: effective_levels.Charged | None, rung: int
) -> Entry:
    """Charge a raise by the difference, as for a lossless level."""
    cost = KEPT_PRICE(query, account, None, rung)
    return cost if known is None else Entry(max(cost.loss - known.sum.loss, 0), cost.failure)


def whatever_was_drawn(  # the shape of ``LevelRule.target_rung``
    rule: LevelRule, _: Opened, __: Query, ___: Tier, ____: int, target: Target, delta: float
) -> int:
    """Let a caller pay for one of these levels, whoever drew them."""
    return rule.process.rung(target, delta)


def nothing_anew(*_: object) -> None:
    """Leave what was charged as it was."""


def whatever_exists(known: KnownQuery, _: Tier) -> int:
    return known.query.ceiling


KEPT = effective_levels._dues  # what a broken variant replaces
KEPT_PRICE = effective_levels.price
BROKEN: list[tuple[Story, object, str, Callable[..., object]]] = [
    (seen_twice, IndependentLevels, "telling", best_alone),
    (seen_and_lowered, effective_levels, "_dues", forgetful),
    (seen_and_lowered, effective_levels, "price", price_of_the_finest),
    (asked_for_others, IndependentLevels, "target_rung", whatever_was_drawn),
    (lowered_and_moved, effective_levels, "_dues", forgetful),
    (raised, lossless_levels, "raising", by_difference),
    (held_and_deleted, effective_levels, "ladder", in_sight),
    (asked, KnownQuery, "allowed_rung", whatever_exists),
    (granted_more, budgets, "reprice", nothing_anew),
]


@pytest.mark.only(SQLITE)
@pytest.mark.parametrize(("story", "module", "name", "broken"), BROKEN)
def test_a_broken_rule_is_found_out(
    machines: Machines,
    monkeypatch: pytest.MonkeyPatch,
    story: Story,
    module: object,
    name: str,
    broken: Callable[..., object],
) -> None:
    monkeypatch.setattr(module, name, broken)
    with pytest.raises(AssertionError):
        told(story, machines)
