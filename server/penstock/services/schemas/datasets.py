"""Describe requests that change a dataset: its budgets, or its declaration."""

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.models import MOST_COLUMNS, MOST_UNITS, ColumnSpec, PrivacyUnitSpec
from penstock.privacy.neighboring import NeighboringRelation
from penstock.services.schemas.queries import Budget
from penstock.spec_fields import ColumnName, Name, Spec, each_once


class CorrectionRequest(Spec):
    """Represent a correction of a dataset's declaration; omitted fields stay as they are.

    A column that is listed is redeclared as a whole, one that is null is no longer declared.
    """

    privacy_unit: PrivacyUnitSpec | None = None
    neighboring: Annotated[NeighboringRelation | None, Field(strict=False)] = None
    delta: float | None = Field(default=None, ge=0, lt=1)
    columns: Annotated[
        dict[ColumnName, ColumnSpec | None] | None, Field(min_length=1, max_length=MOST_COLUMNS)
    ] = None
    max_units: Annotated[int, Field(ge=1, le=MOST_UNITS)] | None = None

    @property
    def given(self) -> set[str]:
        """Return the fields that were given."""
        return {name for name in self.model_fields_set if getattr(self, name) is not None}

    @model_validator(mode="after")
    def _says_something(self) -> "CorrectionRequest":
        if not self.given:
            raise PydanticCustomError("change", "Say what is declared otherwise.")
        return self


class DatasetChange(CorrectionRequest):
    """Represent a change of a dataset: its tiers' budgets, its declaration, or its people.

    Omitted tiers keep their budgets; omitted fields and columns keep their declaration.
    ``same_people_as`` names a dataset that holds the same people, so that losses in both add up;
    this cannot be undone.  Each of the three needs a separate request.
    """

    budgets: (
        Annotated[
            dict[Name, Budget], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
        ]
        | None
    ) = None
    same_people_as: Name | None = None

    @model_validator(mode="after")
    def _require_single_change(self) -> "DatasetChange":
        if self.given & {"budgets", "same_people_as"} and len(self.given) > 1:
            raise PydanticCustomError(
                "change",
                "Change budgets, the declaration, or same_people_as, each by a request of its own.",
            )
        return self

    @property
    def correction(self) -> CorrectionRequest:
        """Return the changes of the declaration."""
        changes = {name: getattr(self, name) for name in self.given}
        return CorrectionRequest.model_construct(_fields_set=set(changes), **changes)
