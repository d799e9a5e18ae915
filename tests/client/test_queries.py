"""Test that queries are read with the level of each tier."""

from typing import Any

from tests.client.servers.previews import COMPOSED

from penstock_client import Client


def test_a_query_says_whether_its_levels_are_lossless(
    client: Client, answers: dict[str, Any]
) -> None:
    before = client.queries()
    assert all(query.lossless and query.p is None for query in before)
    item = answers["GET /api/v1/queries"]["items"][0]
    item.update(p=3.0, lossless=False)
    item["tiers"][0]["composed"] = COMPOSED
    query = client.queries()[0]
    assert (query.p, query.lossless) == (3, False)
    assert query.tiers[0].composed is not None


def test_a_query_says_what_each_tier_gets(client: Client) -> None:
    (tier,) = client.queries("flights")[0].tiers
    assert (tier.tier, tier.level.value) == ("partner", 2028)
    assert tier.error is not None
    assert tier.error.half_width == 88.26


def test_a_query_of_which_little_is_stated_has_no_tiers(client: Client) -> None:
    query = client.queries()[1]
    assert (query.name, query.tiers, query.mechanism, query.dimension) == ("visits", (), None, None)
