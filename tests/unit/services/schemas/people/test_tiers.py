"""Test requests about tiers."""

from penstock.services.schemas.people.tiers import TierSpec


def test_a_tier_has_no_description_unless_one_is_given() -> None:
    assert TierSpec(name="public").description == ""
