"""Describe what callers send; the models are strict and refuse unknown fields.

The part of datasets and queries that concerns data (columns, aggregates, pushed vectors) is
declared with the connectors; this module joins it with budgets, levels and people.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import (
    MOST_UNITS,
    ComputedQuery,
    ContributionSpec,
    DatasetSpec,
    PushedVector,
    SourceSpec,
    VectorSpec,
    exact_values,
)
from penstock.connectors.sql.limits import LONGEST
from penstock.privacy.target import Target, TargetKind
from penstock.services.schemas.histograms import (
    DEFAULT_HISTOGRAM_LEVELS,
    FIT,
    MOST_HISTOGRAM_LEVELS,
    FalseKeys,
    RequestedFalseKeys,
)
from penstock.services.schemas.levels import Level
from penstock.services.schemas.wordings.wordings import WordingChange, WordingSpec, is_wording
from penstock.spec_fields import Name, Number, Spec, as_epsilon, each_once

DEFAULT_LEVELS = 1024
MOST_LEVELS = 4096
"""The number of chained draws up to which sums are sure to stay within 64 bits."""


_TARGETS: Final = ("epsilon", "level", "rho", "tier")


class ReleaseRequest(Spec):
    """Represent the level that a caller requests: their own (nothing given), or one of these."""

    tier: Name | None = None
    epsilon: float | None = Field(default=None, gt=0)
    rho: float | None = Field(default=None, gt=0)
    level: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _require_single_target(self) -> "ReleaseRequest":
        given = [name for name in _TARGETS if getattr(self, name) is not None]
        if len(given) > 1:
            raise PydanticCustomError(
                "level",
                "Give at most one of tier, epsilon, rho, level; given: {given}.",
                {"given": ", ".join(given)},
            )
        return self

    def target(self) -> Target | None:
        """Return the level as a target of calibration; ``None`` if it is a tier's."""
        for kind in (TargetKind.EPSILON, TargetKind.RHO, TargetKind.LEVEL):
            value = getattr(self, kind.value)
            if value is not None:
                return Target(kind, float(value))
        return None


class BudgetSpec(Spec):
    """Represent a tier's budget; delta is the dataset's."""

    epsilon: float = Field(gt=0)


Budget = Annotated[
    BudgetSpec,
    BeforeValidator(as_epsilon, json_schema_input_type=BudgetSpec | Annotated[float, Field(gt=0)]),
]
"""A tier's budget; a number alone is its epsilon."""


Accountant = Literal["renyi", "gaussian"]
"""The accountant of a dataset: charges add up as Rényi losses at one order, or as squares of mu."""


class DatasetRequest(DatasetSpec, WordingSpec):
    """Represent a dataset to register, with each tier's budget and the people that it holds.

    ``accountant`` cannot be changed later: ``gaussian`` takes only Gaussian queries, at a delta
    above 0, and has room for more of them.
    """

    delta: float = Field(ge=0, lt=1)
    accountant: Accountant = "renyi"
    budgets: Annotated[
        dict[Name, Budget], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
    ]
    same_people_as: Annotated[Name | None, Field(exclude=True)] = None


class VersionRequest(Spec):
    """Represent new data of a dataset, with the budget of each tier for them.

    Columns, privacy unit, neighboring relation and delta stay those of the dataset.
    ``disjoint_units`` states that nobody in the new data is in any earlier version: then the
    budgets of versions do not add up.  The server cannot check it.
    """

    source: SourceSpec
    budgets: Annotated[
        dict[Name, Budget], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
    ]
    disjoint_units: bool = False
    max_units: Annotated[int, Field(ge=1, le=MOST_UNITS)] | None = None


def _exact_values(value: object) -> list[int | float] | None:
    return None if value is None else exact_values(value)


class LevelsChange(Spec):
    """Represent new levels of a query by tier; omitted tiers keep theirs.

    ``values`` are the exact values again.  A pushed query needs them for a level more accurate
    than its ceiling, and, if its levels are not lossless, for any level that was not drawn yet.
    """

    levels: Annotated[
        dict[Name, Level], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
    ]
    values: Annotated[
        list[int | float] | None,
        PlainValidator(_exact_values),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "array", "items": {"type": "number"}, "minItems": 1},
                    {"type": "null"},
                ]
            }
        ),
        Field(repr=False, exclude=True),
    ] = None


def _kind_of_change(value: object) -> str:
    return "<texts>" if is_wording(value) else "<levels>"


QueryChange = Annotated[
    Annotated[LevelsChange, Tag("<levels>")] | Annotated[WordingChange, Tag("<texts>")],
    Discriminator(_kind_of_change),
]
"""A change of a query: of its levels, or of its texts for readers."""


class Terms(WordingSpec):
    """Represent how a query is released: by which mechanism, and at which level for each tier.

    ``share`` is the part of every tier's budget that the query takes; ``levels`` gives the level
    of each listed tier instead.  ``granularity`` requests Laplace noise on the lattice of the
    values themselves, which for integers is 1.  ``p`` is the power of generalized Gaussian noise,
    which makes the largest of many errors small: 1 is laplace and 2 is gaussian.  With any other
    power the levels are independent draws, and tiers are charged for all that they may see.
    """

    stand_ins: ClassVar[Mapping[str, Any]] = {}
    """What stands for exact values and keys where a request is sent without them."""

    mechanism: Literal["gaussian", "laplace", "poisson", "skellam", "generalized_gaussian"]
    p: Annotated[Number | None, WithJsonSchema({"type": "number", "minimum": 1, "maximum": 16})] = (
        None
    )
    granularity: float | None = Field(default=None, gt=0)
    share: float | None = Field(default=None, gt=0, le=1)
    levels: (
        Annotated[
            dict[Name, Level], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
        ]
        | None
    ) = None
    max_levels: int = Field(default=DEFAULT_LEVELS, ge=1, le=MOST_LEVELS)

    @model_validator(mode="after")
    def _require_share_or_levels(self) -> "Terms":
        if (self.share is None) == (self.levels is None):
            if self.share is not None:
                raise PydanticCustomError("terms", "Give either share or levels, not both.")
            raise PydanticCustomError(
                "terms",
                "Enter either the noise level of at least one tier, for example an epsilon of 0.1,"
                " or the share of every tier's budget that it takes, for example 0.1.",
                {"field": "share" if "share" in self.model_fields_set else "levels"},
            )
        if self.granularity is not None and self.mechanism != "laplace":
            raise PydanticCustomError(
                "terms",
                "Only laplace noise has a granularity to choose, {mechanism} noise has its own;"
                " leave granularity out.",
                {"mechanism": self.mechanism, "field": "granularity"},
            )
        if self.p is None and self.mechanism == "generalized_gaussian":
            raise PydanticCustomError(
                "terms",
                "The field p, the power of generalized_gaussian noise, is missing: give a number"
                " from 1 to 16, for example 4.",
                {"field": "p"},
            )
        return self

    @property
    def power(self) -> Fraction | None:
        """Return ``p`` exactly."""
        return None if self.p is None else Fraction(self.p)


class ComputedQueryRequest(Terms, ComputedQuery):
    """Represent a query that the server computes from its dataset."""


class CorrelatedQueryRequest(ComputedQueryRequest, CorrelatedQuery):
    """Represent counts that are protected together, by Gaussian noise."""

    mechanism: Literal["gaussian"]


class HistogramRequest(ComputedQueryRequest, HistogramQuery):
    """Represent a count over too many keys to list; tiers see the keys with large counts.

    ``false_keys`` is the expected number of keys of count 0 that a tier sees: one number, or one
    for each tier.  It determines the noisy count above which a key is reported.  With ``fit``, or
    where it is left out, it is the largest number up to 1 that all budgets allow, to two digits.
    """

    false_keys: RequestedFalseKeys = FIT
    max_levels: int = Field(default=DEFAULT_HISTOGRAM_LEVELS, ge=1, le=MOST_HISTOGRAM_LEVELS)

    @property
    def expected_false_keys(self) -> FalseKeys:
        """Return the number of false keys.  Raises ``TypeError`` if it is not solved for yet."""
        if isinstance(self.false_keys, str):
            raise TypeError("the number of false keys is not solved for yet")
        return self.false_keys


class PushedVectorRequest(Terms, PushedVector):
    """Represent a query whose exact values come with the request, and are never stored."""

    stand_ins: ClassVar[Mapping[str, Any]] = {"values": [0]}


class SqlRequest(Terms):
    """Represent a query whose data half is a statement of SQL; the dataset is its table.

    It says what a spec could say, and is refused otherwise: see ``connectors/sql``.
    """

    name: Name
    sql: Annotated[str, Field(max_length=LONGEST)]
    contribution: ContributionSpec = ContributionSpec()

    @model_validator(mode="before")
    @classmethod
    def _require_sql_alone(cls, sent: object) -> object:
        if isinstance(sent, dict) and "aggregate" in sent:
            raise PydanticCustomError(
                "sql",
                "A query is in SQL or a spec: leave aggregate out with the rest of the spec, or"
                " leave sql out.",
                {"field": "aggregate"},
            )
        return sent


def _is_sql(value: object) -> bool:
    return isinstance(value, SqlRequest) or (isinstance(value, dict) and "sql" in value)


def _kind_of_query(value: object) -> str:
    if _is_sql(value):
        return "<sql>"
    return _kind_of_spec(value)


def _kind_of_spec(value: object) -> str:
    if _structure(value) == "sparse_histogram":
        return "<histogram>"
    pushed = isinstance(value, PushedVectorRequest) or (
        isinstance(value, dict) and "values" in value and "aggregate" not in value
    )
    if pushed:
        return "<vector>"
    return "<correlated>" if _structure(value) == "correlated" else "<computed>"


def _structure(value: object) -> object:
    sent = value if isinstance(value, dict) else {}
    return sent.get("structure", getattr(value, "structure", None))


SpecRequest = Annotated[
    Annotated[ComputedQueryRequest, Tag("<computed>")]
    | Annotated[CorrelatedQueryRequest, Tag("<correlated>")]
    | Annotated[HistogramRequest, Tag("<histogram>")]
    | Annotated[PushedVectorRequest, Tag("<vector>")],
    Discriminator(_kind_of_spec),
]
"""A query to register, as a spec."""

QueryRequest = Annotated[
    Annotated[ComputedQueryRequest, Tag("<computed>")]
    | Annotated[CorrelatedQueryRequest, Tag("<correlated>")]
    | Annotated[HistogramRequest, Tag("<histogram>")]
    | Annotated[PushedVectorRequest, Tag("<vector>")]
    | Annotated[SqlRequest, Tag("<sql>")],
    Discriminator(_kind_of_query),
]
"""A query to register, as a spec or in SQL."""


class VectorPreviewRequest(Terms, VectorSpec):
    """Represent a pushed vector without its values; its keys give their number."""

    stand_ins: ClassVar[Mapping[str, Any]] = {"keys": ["0"]}


class RegisteredQuery(Spec):
    """Represent a registered query, by its name."""

    query: Name


def _kind_of_preview(value: object) -> str:
    sent = value if isinstance(value, dict) else {}
    if isinstance(value, RegisteredQuery) or "query" in sent:
        return "<registered>"
    valueless = "sensitivity" in sent and not sent.keys() & {"aggregate", "values"}
    if isinstance(value, VectorPreviewRequest) or valueless:
        return "<vector without values>"
    return _kind_of_query(value)


PreviewRequest = Annotated[
    Annotated[ComputedQueryRequest, Tag("<computed>")]
    | Annotated[CorrelatedQueryRequest, Tag("<correlated>")]
    | Annotated[HistogramRequest, Tag("<histogram>")]
    | Annotated[PushedVectorRequest, Tag("<vector>")]
    | Annotated[SqlRequest, Tag("<sql>")]
    | Annotated[VectorPreviewRequest, Tag("<vector without values>")]
    | Annotated[RegisteredQuery, Tag("<registered>")],
    Discriminator(_kind_of_preview),
]
