"""Test requests about tiers, users and tokens: roles once each, lifetimes in seconds."""

import pytest
from pydantic import ValidationError

from penstock.services.schemas.people import TierSpec, TokenSpec, UserSpec


@pytest.mark.parametrize(
    ("said", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), (60, 60)]
)
def test_a_lifetime_is_read_as_seconds(said: object, seconds: int) -> None:
    assert TokenSpec.model_validate({"expires_in": said}).expires_in == seconds


@pytest.mark.parametrize("said", ["30", "d", "1w", "-1d", 0, "3651d", "1.5h"])
def test_what_is_no_lifetime_is_refused(said: object) -> None:
    with pytest.raises(ValidationError):
        TokenSpec.model_validate({"expires_in": said})


def test_every_role_is_listed_once() -> None:
    with pytest.raises(ValidationError, match="List every role once"):
        UserSpec.model_validate({"name": "ann", "roles": ["admin", "admin"]})
    with pytest.raises(ValidationError):
        UserSpec.model_validate({"name": "ann", "roles": []})


def test_a_tier_has_no_description_unless_one_is_given() -> None:
    assert TierSpec(name="public").description == ""
