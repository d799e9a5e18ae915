"""Show what a refusal tells an analyst whose query a tier above theirs has no room for.

It is no less than what README.md says: the room that is left above, as closely as they ask for it.
"""

from tests.unit.services.allowances.asking import ask, exhaust, give, request_of
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events
from penstock.services.pagination import Window
from penstock.services.previews import query_preview


def shares(world: World, tier: str) -> tuple[float, float]:
    """Return the share of a tier's budget that is spent, and that which is left."""
    shown = budgets.show(world.server, OPERATOR, "stays")
    (one,) = (view for view in shown.tiers if view.tier == tier)
    return one.spent_share, one.remaining_share


def leaves(world: World) -> int:
    """Return how many queries the log has."""
    page = events.listing(world.server, OPERATOR, Window(limit=1000))
    return sum(event.leaf["kind"] == "query" for event in page.items)


def test_who_asks_with_more_and_more_noise_learns_what_is_left_above(stays: World) -> None:
    exhaust(stays, "internal", below=1.0)
    give(stays, epsilon=4.0)
    _, room = shares(stays, "internal")
    before, refusals = leaves(stays), []
    for step in range(30):
        epsilon = 3.2 * 0.85**step
        levels = {"partner": {"epsilon": epsilon}}
        where = [{"column": "town", "op": "=", "value": "north"}]
        request = request_of("mine", levels=levels, where=where)
        preview = query_preview.preview(stays.server, stays.person("paul"), request)
        assert preview.refusal is None, "their own tier and their allowance have room"
        assert "internal" not in repr(preview)
        try:
            ask(stays, "paul", "mine", levels=levels, where=where)
        except BudgetExhausted as problem:
            refusals.append((problem.detail, len(problem.data)))
        else:
            break
    _, rest = shares(stays, "internal")
    cost = room - rest
    # Every refusal is the same text without a number.
    ((words, numbers),) = set(refusals)
    assert "a tier above 'partner'" in words
    assert numbers == 0
    assert len(refusals) >= 3
    # The last refusal and the first registration hold it between them: a step of 0.85 in epsilon.
    assert 0.6 * room < cost <= room
    assert leaves(stays) == before + 1, "what is refused costs nothing and is not in the log"
