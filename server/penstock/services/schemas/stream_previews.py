"""Describe previews of a stream: its terms, and the errors of other structures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.services.schemas.previews import ChargeView, RoomView
from penstock.services.schemas.views import ErrorView, GuaranteeView, LevelView, SensitivityView


@dataclass(frozen=True)
class StepErrorView:
    """Hold the error of each number in the running totals after element ``t``."""

    t: int
    error: ErrorView


@dataclass(frozen=True)
class StreamPreviewTierView:
    """Hold what one tier would get of a stream, and what its account would be charged.

    ``error`` is that of the noisiest step and ``root_mean_square`` the standard deviation
    over all steps, the square root of the mean squared error; ``steps`` are some of the steps.
    ``charge`` is for one privacy unit and the whole stream.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    charge: ChargeView
    error: ErrorView
    root_mean_square: float
    steps: list[StepErrorView]
    room: RoomView


@dataclass(frozen=True)
class StructureErrorView:
    """Hold standard deviations at one tier: over all steps, and of the noisiest one.

    ``charged_share`` is the part of the tier's account that the structure would take at this
    guarantee, which for Laplace noise depends on how many nodes share it; null if this server
    does not open such streams.
    """

    tier: str
    root_mean_square: float
    largest: float
    charged_share: float | None


@dataclass(frozen=True)
class StructureView:
    """Hold one structure at the guarantees of the tiers, computed from its nodes.

    ``request`` has the fields that request it, null if this server does not open such streams.
    At most ``kept`` numbers are stored for a tier; on average ``drawn`` of them are drawn and
    ``added`` of them are added to totals in a step.  ``least_mean`` and ``least_largest`` mark
    the least mean squared error over all steps, and the least error of the noisiest one.
    """

    structure: str
    settings: Mapping[str, int]
    request: Mapping[str, Any] | None
    chosen: bool
    least_mean: bool
    least_largest: bool
    lossless: bool
    kept: int
    drawn: float
    added: float
    errors: list[StructureErrorView]


@dataclass(frozen=True)
class StreamNoiseView:
    """Hold the same stream with one mechanism, in a structure that ``auto`` takes or considers.

    ``chosen`` marks the previewed mechanism.  ``refusal`` says why such a stream would be refused,
    or cannot be compared; there are no ``errors`` then.
    """

    mechanism: str
    structure: Mapping[str, Any]
    chosen: bool
    refusal: str | None
    errors: list[StructureErrorView]


@dataclass(frozen=True)
class StreamPreviewView:
    """Hold a stream before it is charged, down to the caller's tiers.

    Errors are those over the first ``judged_steps`` steps, which are all of them if there is a
    length.  ``refusal`` says why the budgets would not allow it; null if they would.
    ``structures`` begin with the one of the least mean squared error.  ``noises`` are Laplace and
    Gaussian noise at the targets of the levels, each with what it would be charged; where ``auto``
    chooses between two Laplace trees, the other one comes last.
    """

    stream: str
    dataset: str
    dataset_version: int
    mechanism: str
    structure: Mapping[str, Any]
    length: int | None
    dimension: int
    max_steps_per_unit: int
    granularity: float
    sensitivity: SensitivityView
    judged_steps: int
    noisiest_step: int
    refusal: str | None
    tiers: list[StreamPreviewTierView]
    structures: list[StructureView]
    noises: list[StreamNoiseView]
