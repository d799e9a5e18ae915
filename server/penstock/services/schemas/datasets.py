"""Describe changes of a dataset: its budgets, allowances and declaration; and show its budgets."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.models import MOST_COLUMNS, MOST_UNITS, ColumnSpec, PrivacyUnitSpec
from penstock.privacy.neighboring import NeighboringRelation
from penstock.services.schemas.queries import Budget
from penstock.services.schemas.views import PrivacyBudget
from penstock.services.schemas.wordings.wordings import FIELDS, WordingSpec, texts_of
from penstock.spec_fields import LONGEST_LIST, ColumnName, Name, Spec, each_once


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


class DatasetChange(CorrectionRequest, WordingSpec):
    """Represent a change of a dataset: its budgets, its declaration, its people, or its texts.

    Omitted tiers keep their budgets; omitted fields and columns keep their declaration.
    ``same_people_as`` names a dataset that holds the same people, so that losses in both add up;
    this cannot be undone.  Each of the four needs a separate request.
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
        alone = ({"budgets"}, {"same_people_as"}, set(FIELDS))
        changed = [fields for fields in alone if self.given & fields]
        if len(changed) > 1 or (changed and self.given - changed[0]):
            raise PydanticCustomError(
                "change",
                "Change budgets, the declaration, same_people_as, or titles and other texts, each"
                " by a request of its own.",
            )
        return self

    @property
    def texts(self) -> dict[str, Any]:
        """Return the texts for readers that are given."""
        return texts_of(self)

    @property
    def correction(self) -> CorrectionRequest:
        """Return the changes of the declaration."""
        changes = {name: getattr(self, name) for name in self.given}
        return CorrectionRequest.model_construct(_fields_set=set(changes), **changes)


class AllowanceSpec(Spec):
    """Represent an allowance of a tier in a dataset; delta and accountant are the dataset's.

    ``users`` may use it, while the tier is their clearance; all analysts of the tier by default.
    """

    epsilon: float = Field(gt=0)
    users: Annotated[list[Name] | None, Field(min_length=1, max_length=LONGEST_LIST)] = None


@dataclass(frozen=True)
class AllowanceSpendingView:
    """Hold a query that an analyst registered under an allowance, and the share that it takes.

    ``by`` is for admins and auditors, and for the analyst; null for all others.
    """

    query: str
    by: str | None
    share: float


@dataclass(frozen=True)
class AllowanceView:
    """Hold what analysts of a tier may register by themselves in a dataset's newest version.

    ``users`` is null if all analysts of the tier may; analysts see none but themselves in it.
    Shares are of the loss that the allowance has room for, in an account of its own, and add up;
    what is spent may exceed it after it was lowered.  ``given_by`` is for admins and auditors, and
    so are ``notes``: what of it cannot be used as things are now.
    """

    dataset: str
    dataset_version: int
    tier: str
    epsilon: float
    delta: float
    users: list[str] | None
    spent_share: float
    remaining_share: float
    queries: list[AllowanceSpendingView]
    given_at: datetime
    given_by: str | None
    notes: list[str]


@dataclass(frozen=True)
class SpendingView:
    """Hold what one query takes of a tier's budget.

    ``share`` is its part of the tier's additive limit; shares add up, epsilons do not.
    """

    query: str
    share: float


@dataclass(frozen=True)
class TierBudgetView:
    """Hold a tier's account with a dataset.

    ``spent`` is the tight composition of all that the tier could see; ``remaining.epsilon`` is
    that of the largest single Gaussian query that still fits.  ``allowance`` is null without one,
    and for analysts who may not use it.
    """

    tier: str
    granted: PrivacyBudget
    spent: PrivacyBudget
    remaining: PrivacyBudget
    spent_share: float
    remaining_share: float
    queries: list[SpendingView]
    allowance: AllowanceView | None = None


@dataclass(frozen=True)
class VersionBudgetView:
    """Hold the budget of one version of a dataset, tier by tier."""

    version: int
    disjoint_units: bool
    tiers: list[TierBudgetView]


@dataclass(frozen=True)
class OtherBudgetView:
    """Hold the budget of one version of another dataset that holds the same people."""

    dataset: str
    version: int
    disjoint_units: bool
    tiers: list[TierBudgetView]


@dataclass(frozen=True)
class TierTotalView:
    """Hold a tier's grants and spending, over the versions that one unit may be in."""

    tier: str
    granted: PrivacyBudget
    spent: PrivacyBudget


@dataclass(frozen=True)
class DatasetBudgetView:
    """Hold the budget of a dataset, tier by tier.

    ``tiers`` have that of the newest version, which new queries are charged to; ``together`` is
    the guarantee over all versions, and over ``same_people``: the versions of the datasets that
    were declared to hold the same people.
    """

    dataset: str
    version: int
    tiers: list[TierBudgetView]
    earlier: list[VersionBudgetView]
    together: list[TierTotalView]
    same_people: list[OtherBudgetView] = field(default_factory=list)
