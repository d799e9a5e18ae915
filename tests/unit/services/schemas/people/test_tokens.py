"""Test requests for tokens: lifetimes in seconds."""

import pytest
from pydantic import ValidationError

from penstock.services.schemas.people.tokens import TokenSpec


@pytest.mark.parametrize(
    ("said", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), (60, 60)]
)
def test_a_lifetime_is_read_as_seconds(said: object, seconds: int) -> None:
    assert TokenSpec.model_validate({"expires_in": said}).expires_in == seconds


@pytest.mark.parametrize("said", ["30", "d", "1w", "-1d", 0, "3651d", "1.5h"])
def test_what_is_no_lifetime_is_refused(said: object) -> None:
    with pytest.raises(ValidationError):
        TokenSpec.model_validate({"expires_in": said})


def test_a_text_of_seconds_is_refused_by_what_it_lacks() -> None:
    with pytest.raises(ValidationError, match="in text must have its unit"):
        TokenSpec.model_validate({"expires_in": "86400"})


@pytest.mark.parametrize("said", ["4000d", 4000 * 86_400, 0, "0d"])
def test_a_lifetime_that_is_out_of_bounds_is_refused_in_days(said: object) -> None:
    with pytest.raises(ValidationError, match="at least 1 second and at most 3,650 days"):
        TokenSpec.model_validate({"expires_in": said})
