"""Test that a noise level is named in exactly one way; a number alone is its epsilon."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from penstock.privacy import Target, TargetKind
from penstock.services.schemas.levels import Level, LevelSpec


@pytest.mark.parametrize("kind", [kind.value for kind in TargetKind])
def test_each_way_is_a_target_of_its_kind(kind: str) -> None:
    assert LevelSpec.model_validate({kind: 0.5}).target() == Target(TargetKind(kind), 0.5)


def test_a_number_is_an_epsilon_and_a_width_has_its_confidence() -> None:
    level: LevelSpec = TypeAdapter(Level).validate_python(0.25)
    assert level == LevelSpec(epsilon=0.25)
    width = LevelSpec(half_width=3, confidence=0.9).target()
    assert width == Target(TargetKind.HALF_WIDTH, 3.0, 0.9)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "given: none"),
        ({"epsilon": 1, "rho": 1}, "given: epsilon, rho"),
        ({"epsilon": 1, "confidence": 0.9}, "is allowed only with half_width"),
        ({"epsilon": 0}, "greater than 0"),
        ({"half_width": 1, "confidence": 1}, "less than 1"),
    ],
)
def test_anything_else_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        LevelSpec.model_validate(given)
