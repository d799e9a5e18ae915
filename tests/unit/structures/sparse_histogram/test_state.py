"""Test that a histogram written as bytes goes on as before; altered bytes are refused."""

import pytest
from tests.unit.structures.small_histogram import (
    CEILING,
    COUNTS,
    DOMAIN,
    LADDER,
    MECHANISM,
    ORDERS,
    RANKS,
    THRESHOLDS,
    histogram,
    keyed,
)

from penstock.errors import IntegrityViolation
from penstock.structures.sparse_histogram import (
    SparseHistogram,
    Thresholds,
    Uint64,
    from_bytes,
    to_bytes,
)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_whoever_reloads_before_every_release_draws_the_same(order: tuple[int, ...]) -> None:
    whole, streams = histogram(), keyed("one")
    parts = SparseHistogram(MECHANISM, THRESHOLDS, DOMAIN, RANKS, COUNTS, CEILING, streams=streams)
    for rung in order:
        state = to_bytes(parts)
        assert len(state) & (len(state) - 1) == 0
        parts = from_bytes(state, MECHANISM, THRESHOLDS, DOMAIN, streams=streams)
        one, other = whole.at(CEILING + rung), parts.at(CEILING + rung)
        assert one.ranks.tolist() == other.ranks.tolist()
        assert one.steps.tolist() == other.steps.tolist()


def test_a_state_with_any_byte_changed_is_refused() -> None:
    held = histogram()
    held.at(CEILING + 3)
    state = to_bytes(held)
    for place in range(0, len(state), 7):
        broken = bytearray(state)
        broken[place] ^= 1
        with pytest.raises(IntegrityViolation):
            from_bytes(bytes(broken), MECHANISM, THRESHOLDS, DOMAIN)
    with pytest.raises(IntegrityViolation):
        from_bytes(state[:100], MECHANISM, THRESHOLDS, DOMAIN)
    with pytest.raises(IntegrityViolation):
        from_bytes(b"", MECHANISM, THRESHOLDS, DOMAIN)


def test_a_state_of_another_domain_is_refused() -> None:
    domain = Uint64(2**40)
    others = Thresholds(LADDER, MECHANISM.granularity, domain.size, {CEILING: 20.0})
    with pytest.raises(IntegrityViolation):
        from_bytes(to_bytes(histogram()), MECHANISM, others, domain)


def test_the_state_tells_the_support_and_no_exact_count() -> None:
    state = to_bytes(histogram())
    for rank in (5, 2**63, 2**64 - 1):
        assert rank.to_bytes(8, "little") in state
    for value in COUNTS[:3]:
        steps = int(value / MECHANISM.granularity)
        assert steps.to_bytes(8, "little", signed=True) not in state


def test_released_thresholds_stay_what_they_were() -> None:
    held = histogram()
    before = held.at(CEILING + 3)
    changed = Thresholds(LADDER, MECHANISM.granularity, DOMAIN.size, {CEILING: 1e-9})
    again = from_bytes(to_bytes(held), MECHANISM, changed, DOMAIN).at(CEILING + 3)
    assert again.ranks.tolist() == before.ranks.tolist()
