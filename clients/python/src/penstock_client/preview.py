"""Preview queries: read what one would cost, and read and check specs."""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

from penstock_client._http.fields import Fields
from penstock_client._log.nesting import flat, shallow
from penstock_client._show.rounding import percent, short
from penstock_client.errors import InvalidArgument
from penstock_client.models import Answer, ErrorBars, whole
from penstock_client.queries import TierLevel
from penstock_client.questions.allowances import AllowanceRoom

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Charge:
    """Hold what a query takes of a tier's account; shares of its limit add up over queries.

    ``loss`` is a Rényi loss in nats at the account's ``order``; ``failure`` is a probability.
    """

    order: float | None
    loss: float | None
    failure: float | None
    share: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(*(fields.number_or_none(name) for name in ("order", "loss", "failure", "share")))


@dataclass(frozen=True)
class Room:
    """Hold whether a charge fits a tier's account, with shares of the account's limit."""

    fits: bool
    needed_share: float | None
    remaining_share: float | None
    largest_share: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        shares = ("needed_share", "remaining_share", "largest_share")
        return cls(
            fields.whole.get("fits") is True, *(fields.number_or_none(name) for name in shares)
        )


@dataclass(frozen=True)
class RankError:
    """Hold the error, in rows, of the rank of the quantile at ``probability``.

    It is the largest over all edges of bins.
    """

    probability: float
    error: ErrorBars

    @classmethod
    def read_all(cls, fields: Fields) -> tuple[Self, ...]:
        """Return those of a tier; none from a server that has none."""
        if fields.whole.get("ranks") is None:
            return ()
        return tuple(
            cls(each.number("probability"), ErrorBars.read(each.child("error")))
            for each in fields.children("ranks")
        )


@dataclass(frozen=True)
class Expected:
    """Hold how noisy the estimates of moments would be, for ``rows`` rows of one group.

    Their values are spread evenly between the bounds, each column by itself.  ``estimates`` maps
    names to standard deviations, in inverse proportion to the rows but for ``n`` and sums, and None
    where there is too much noise; ``weights`` maps numbers to what their noise is divided by.
    """

    rows: int
    estimates: Mapping[str, float | None] = field(hash=False)
    weights: Mapping[str, int] = field(hash=False)

    @classmethod
    def read_or_none(cls, fields: Fields) -> Self | None:
        """Return that of a tier; None of other queries, and from a server that has none."""
        own = fields.child_or_none("expected")
        if own is None:
            return None
        return cls(
            own.integer("rows"),
            {
                each.text("name"): each.number_or_none("standard_deviation")
                for each in own.children("estimates")
            },
            {each.text("name"): each.integer("weight") for each in own.children("weights")},
        )


@dataclass(frozen=True, kw_only=True)
class TierPreview(TierLevel):
    """Hold what one tier would get of a query, and what it would be charged.

    ``room`` is None for a registered query, which has been charged already.
    ``expected_maximum`` is the expected largest error of all values, for a query with
    generalized Gaussian noise.  ``epsilon_at_delta`` bounds the loss of one release at the
    dataset's delta, where that is less than the pure guarantee of Laplace noise; otherwise None.
    ``ranks`` are for quantiles: ``error`` is then that of one count of rows in bins.  ``expected``
    is for moments and regressions: ``error`` is then that of the number with the least weight.
    """

    charge: Charge
    room: Room | None
    expected_maximum: float | None = None
    epsilon_at_delta: float | None = None
    ranks: tuple[RankError, ...] = ()
    expected: Expected | None = None

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the charge, and whether it fits."""
        room, at_delta = fields.child_or_none("room"), fields.child_or_none("at_delta")
        return {
            "charge": Charge.read(fields.child("charge")),
            "room": None if room is None else Room.read(room),
            "expected_maximum": fields.number_or_none("expected_maximum"),
            "epsilon_at_delta": None if at_delta is None else at_delta.number("epsilon"),
            "ranks": RankError.read_all(fields),
            "expected": Expected.read_or_none(fields),
        }

    def ranks_in_words(self) -> str:
        """Return a line on the ranks of quantiles, with their margins in rows."""
        margins = ", ".join(
            f"{rank.probability:g} ±{short(rank.error.half_width)}" for rank in self.ranks
        )
        confidence = percent(self.error.confidence)
        return f"  ranks of quantiles at {self.tier}: {margins} rows at {confidence}"

    def expected_in_words(self) -> list[str]:
        """Return lines on how noisy estimates of moments would be, and on their weights."""
        if self.expected is None:
            return []
        listed = ", ".join(
            f"{name} {short(deviation)}"
            for name, deviation in self.expected.estimates.items()
            if deviation is not None
        )
        weights = ", ".join(f"{name} {weight}" for name, weight in self.expected.weights.items())
        of = f"{self.expected.rows:,} evenly spread rows of a group"
        return [
            f"  standard deviations at {self.tier}, from {of}: {listed}",
            f"    with weights, by which noise is divided: {weights}",
        ]


@dataclass(frozen=True)
class Powers:
    """Hold a recommended power p; ``choices`` maps powers to the expected largest error of each."""

    recommended: float
    reason: str
    choices: Mapping[float, float] = field(hash=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.number("recommended"),
            fields.text("reason"),
            {
                child.number("p"): child.number("expected_maximum")
                for child in fields.children("choices")
            },
        )


@dataclass(frozen=True)
class StrategyError:
    """Hold the errors of a workload's answers at a tier: of the worst, and of all in the mean.

    ``half_width`` is the margin of error of the least accurate answer, ``mean_deviation`` the root
    of the mean variance.
    """

    tier: str
    standard_deviation: float
    half_width: float
    mean_deviation: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        largest = fields.child("largest")
        return cls(
            fields.text("tier"),
            largest.number("standard_deviation"),
            largest.number("half_width"),
            fields.number("mean_deviation"),
        )


@dataclass(frozen=True)
class Strategy:
    """Hold one strategy for a workload; ``name`` is None for one that only the spec gives."""

    name: str | None
    requested: bool
    dimension: int
    tiers: tuple[StrategyError, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text_or_none("strategy"),
            fields.whole.get("requested") is True,
            fields.integer("dimension"),
            tuple(map(StrategyError.read, fields.children("tiers"))),
        )


@dataclass(frozen=True)
class Preview:
    """Hold what a query would cost, for each tier that the caller may see.

    ``sensitivity`` has l1, l2 and linf; ``refusal`` says why budgets would not allow the query.
    ``powers`` is for queries with generalized Gaussian noise, ``strategies`` for workloads, and
    ``allowance`` for analysts who may register queries by themselves.
    """

    query: str | None
    dimension: int
    sensitivity: Mapping[str, float]
    refusal: str | None
    tiers: tuple[TierPreview, ...]
    answer: Answer = field(repr=False, compare=False)
    powers: Powers | None = None
    strategies: tuple[Strategy, ...] = ()
    allowance: AllowanceRoom | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        powers = fields.child_or_none("powers")
        compared = fields.whole.get("strategies") is not None
        room = fields.child_or_none("allowance")
        return cls(
            fields.text_or_none("query"),
            fields.integer("dimension"),
            sensitivity_in(fields),
            fields.text_or_none("refusal"),
            tuple(map(TierPreview.read, fields.children("tiers"))),
            whole(fields),
            None if powers is None else Powers.read(powers),
            tuple(map(Strategy.read, fields.children("strategies"))) if compared else (),
            None if room is None else AllowanceRoom.read(room),
        )


def sensitivity_in(fields: Fields) -> Mapping[str, float]:
    """Read the sensitivities in the norms l1, l2 and linf."""
    sensitivity = fields.child("sensitivity")
    return {norm: sensitivity.number(norm) for norm in ("l1", "l2", "linf")}


def body_of(query: str | Mapping[str, object]) -> dict[str, object]:
    """Return a request's body: the name of a registered query, or a spec unchanged."""
    if isinstance(query, str):
        return {"query": query}
    return as_json(query)


def target_of(name: str, value: str | float) -> str | float:
    """Convert a target to what JSON can represent: also numpy's numbers, but no NaN, no bool."""
    if name == "tier":
        return str(value)
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InvalidArgument(f"{name} must be a number above 0, not {value!r}.")
    return number


def as_json(mapping: Mapping[str, object]) -> dict[str, object]:
    """Return a spec that can be sent.  Raises ``InvalidArgument`` for what JSON does not have."""
    spec = dict(mapping)
    try:
        json.dumps(spec, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InvalidArgument(
            "A spec consists of what JSON has: texts, finite numbers, lists and mappings."
        ) from None
    return spec


def spec_in(file: str, standard_input: TextIO) -> dict[str, object]:
    """Read a spec from a file, as JSON or (.toml) TOML; ``-`` is standard input.

    Raises ``InvalidArgument`` if it cannot be read.
    """
    try:
        text = standard_input.read() if file == STANDARD_INPUT else Path(file).read_text("utf-8")
        read = tomllib.loads if file.lower().endswith(".toml") else json.loads
        spec = flat(read(shallow(text)))
    except OSError as error:
        raise InvalidArgument(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InvalidArgument(
            f"{file} is not valid JSON (TOML if its name ends in .toml)."
        ) from None
    if not isinstance(spec, dict):
        raise InvalidArgument(f"{file} must contain one object, {{...}}.")
    return spec
