"""Test that the values that state a guarantee are readable by name and cannot be changed."""

from dataclasses import FrozenInstanceError

import pytest

from penstock.privacy import Cost, Definition, ErrorBars, Guarantee


def test_definitions_are_written_by_their_names() -> None:
    assert [str(definition) for definition in Definition] == ["pure", "zcdp", "approximate"]
    assert Definition("zcdp") is Definition.ZCDP


def test_what_only_gaussian_noise_has_is_absent_elsewhere() -> None:
    guarantee = Guarantee(Definition.PURE, epsilon=1.0, delta=0.0)
    assert (guarantee.rho, guarantee.mu) == (None, None)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Guarantee(Definition.PURE, 1.0, 0.0), "epsilon"),
        (Cost(0.5, 1e-12), "failure"),
        (ErrorBars(1.0, 0.95, 1.96), "half_width"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_statement_cannot_be_changed_afterwards(value: object, name: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, 0.0)
    assert getattr(value, name) != 0.0
