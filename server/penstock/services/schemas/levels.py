"""Describe a noise level as callers request it, in exactly one way."""

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.privacy.target import Target, TargetKind
from penstock.spec_fields import Spec, as_epsilon


class LevelSpec(Spec):
    """Represent a requested noise level, named in exactly one way."""

    epsilon: float | None = Field(default=None, gt=0)
    rho: float | None = Field(default=None, gt=0)
    mu: float | None = Field(default=None, gt=0)
    standard_deviation: float | None = Field(default=None, gt=0)
    half_width: float | None = Field(default=None, gt=0)
    confidence: float | None = Field(default=None, gt=0, lt=1)
    level: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _named_once(self) -> "LevelSpec":
        given = [kind.value for kind in TargetKind if getattr(self, kind.value) is not None]
        if len(given) != 1:
            names = ", ".join(kind.value for kind in TargetKind)
            raise PydanticCustomError(
                "level",
                "Give exactly one of {names}; given: {given}.",
                {"names": names, "given": ", ".join(given) or "none"},
            )
        if self.confidence is not None and self.half_width is None:
            raise PydanticCustomError(
                "level", "The field confidence is allowed only with half_width."
            )
        return self

    def target(self) -> Target:
        """Return the level as a target of calibration."""
        kind = next(kind for kind in TargetKind if getattr(self, kind.value) is not None)
        value = float(getattr(self, kind.value))
        return (
            Target(kind, value) if self.confidence is None else Target(kind, value, self.confidence)
        )


Level = Annotated[
    LevelSpec,
    BeforeValidator(as_epsilon, json_schema_input_type=LevelSpec | Annotated[float, Field(gt=0)]),
]
"""A requested noise level; a number alone is its epsilon."""
