"""Test what is refused of noise and deltas, before a table is planned."""

import pytest

from penstock.errors import InvalidInput
from penstock.services.noise.kinds.tables.noise import require_gaussian
from penstock.services.schemas.queries import Terms


def refusal(mechanism: str, delta: float) -> str:
    terms = Terms.model_validate({"mechanism": mechanism, "levels": {"public": {"epsilon": 0.1}}})
    with pytest.raises(InvalidInput) as caught:
        require_gaussian(terms, delta, "These tables take", "they are sums of what is released")
    assert [pointer for pointer, _ in caught.value.errors] == ["/mechanism"]
    return caught.value.detail


def test_gaussian_noise_is_taken_with_a_delta() -> None:
    terms = Terms.model_validate({"mechanism": "gaussian", "levels": {"public": {"epsilon": 0.1}}})
    require_gaussian(terms, 1e-6, "These tables take", "they are sums of what is released")


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_without_a_delta_no_other_noise_is_named(mechanism: str) -> None:
    words = refusal(mechanism, 0.0)
    assert words.startswith("These tables take gaussian noise alone, which a dataset with delta 0")
    assert "register the data with a delta" in words


def test_other_noise_is_refused_with_the_reason() -> None:
    assert refusal("laplace", 1e-6) == (
        "These tables take gaussian noise alone, and no laplace: they are sums of what is released."
        " Choose gaussian."
    )
