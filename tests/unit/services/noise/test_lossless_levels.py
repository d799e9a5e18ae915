"""Test levels of one path: the most accurate is charged, composed and told, and no other."""

from tests.support.processes import gaussian
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.accounting import account_of
from penstock.persistence.tables import Query
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.queries import query_by_name

ACCOUNT = account_of(1.0, 1e-6)


def test_the_most_accurate_rung_tells_all() -> None:
    levels = gaussian().levels
    assert levels.lossless
    assert levels.telling([9, 3, 3, 12]) == [3]
    assert levels.telling([]) == []
    assert levels.composed([3, 9], 1e-6) is None


def test_a_raise_is_charged_what_is_missing_to_the_whole_price() -> None:
    kind = gaussian()
    first = kind.levels.price(600, ACCOUNT, 3, 8, None)
    more = kind.levels.price(500, ACCOUNT, 3, 8, (600, first))
    whole = kind.price(500, ACCOUNT, 3, 8)
    assert 0 < more.loss < whole.loss
    assert (first + more).loss >= whole.loss


def test_a_level_is_paid_for_by_any_that_is_as_accurate() -> None:
    levels = gaussian().levels
    assert levels.covers([3], 3)
    assert levels.covers([3], 9)
    assert not levels.covers([9], 3)
    assert not levels.covers([], 3)


def test_only_levels_beyond_the_ceiling_need_the_data(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        levels = kind_of(query).levels
        assert levels.undrawn(session, query, [query.ceiling + 5, query.ceiling]) == []
        assert levels.undrawn(session, query, [query.ceiling + 5, query.ceiling - 1]) == [
            query.ceiling - 1
        ]


def test_leaves_state_the_most_accurate_level() -> None:
    levels = gaussian().levels
    assert levels.leaf_of_exposure([1.5, 3.0]) == 1.5
    assert levels.leaf_of_draw([{"value": 1.5}, {"value": 3.0}]) == {"ceiling": {"value": 1.5}}
    levels.require_drawable(row(Query, name="visits"))
