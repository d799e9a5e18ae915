"""What the server answers with, as plain values.

Each class reads itself from the ``Fields`` of an answer.  What the contract promises is
required; the rest is None where an answer leaves it out.  ``answer`` is the whole of what
the server sent, also the fields that this version does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client.errors import ProtocolError

Answer = Mapping[str, object]


def whole(fields: Fields) -> Answer:
    """The answer itself, read-only."""
    return MappingProxyType(dict(fields.whole))


@dataclass(frozen=True)
class PrivacyLoss:
    """An amount of privacy loss, or of budget for it.  ``epsilon`` is None where unbounded."""

    epsilon: float | None
    delta: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.number_or_none("epsilon"), fields.number("delta"))


@dataclass(frozen=True)
class Level:
    """A noise level, in the unit of its mechanism's parameter (variance, scale, mean)."""

    parameter: str
    value: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("parameter"), fields.number("value"))


@dataclass(frozen=True)
class Guarantee:
    """What a release promises: its native definition, and its reading as (epsilon, delta)."""

    definition: str
    epsilon: float | None
    delta: float
    rho: float | None = None
    mu: float | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("definition"),
            fields.number_or_none("epsilon"),
            fields.number("delta"),
            fields.number_or_none("rho"),
            fields.number_or_none("mu"),
        )


@dataclass(frozen=True)
class Composed:
    """What levels of one query tell together that are draws of their own, and so add up."""

    levels: tuple[float, ...]
    epsilon: float | None
    delta: float

    @classmethod
    def read_or_none(cls, fields: Fields) -> Self | None:
        """What an answer says as ``composed``; None where levels are lossless."""
        child = fields.child_or_none("composed")
        if child is None:
            return None
        return cls(child.vector("levels"), child.number_or_none("epsilon"), child.number("delta"))


@dataclass(frozen=True)
class ErrorBars:
    """How far one value may be from the exact answer, in the unit of the values.

    ``half_width`` is that of the two-sided interval at ``confidence``.
    """

    standard_deviation: float
    confidence: float
    half_width: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        confidence = fields.positive("confidence")
        if confidence >= 1:
            raise ProtocolError(f"The answer's {fields.where}.confidence is not below 1.")
        return cls(fields.positive("standard_deviation"), confidence, fields.positive("half_width"))


@dataclass(frozen=True)
class MeanParts:
    """What the means of a release were read from, one entry for each key.

    A mean is ``middle`` plus a noisy sum over a noisy count; ``lower`` and ``upper`` are
    the ends of its interval at the confidence that the release states.
    """

    lower: tuple[float, ...] = field(repr=False)
    upper: tuple[float, ...] = field(repr=False)
    middle: float
    centered_sums: tuple[float, ...] = field(repr=False)
    sum_error: ErrorBars
    counts: tuple[float, ...] = field(repr=False)
    count_error: ErrorBars

    @classmethod
    def read(cls, fields: Fields, size: int) -> Self:
        vectors = {
            name: fields.vector(name) for name in ("lower", "upper", "centered_sums", "counts")
        }
        for name, vector in vectors.items():
            if len(vector) != size:
                raise ProtocolError(
                    f"The answer's {fields.where}.{name} has {len(vector)} entries for {size} keys."
                )
        return cls(
            vectors["lower"],
            vectors["upper"],
            fields.number("middle"),
            vectors["centered_sums"],
            ErrorBars.read(fields.child("sum_error")),
            vectors["counts"],
            ErrorBars.read(fields.child("count_error")),
        )


@dataclass(frozen=True)
class Receipt:
    """Where the audit log holds the record of a release."""

    index: int | None
    leaf_hash: str
    checkpoint: str | None = None
    leaf: str | None = None
    """What the log says, as it was hashed."""

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.integer_or_none("index"),
            fields.text("leaf_hash"),
            fields.text_or_none("checkpoint"),
            fields.text_or_none("leaf"),
        )


@dataclass(frozen=True)
class Me:
    """Who the token's owner is."""

    name: str
    roles: tuple[str, ...]
    clearance: str | None
    token_expires: datetime | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("name"),
            fields.texts("roles"),
            fields.text_or_none("clearance"),
            fields.moment_or_none("token_expires"),
            whole(fields),
        )


@dataclass(frozen=True)
class Dataset:
    """A source of records, as declared.  ``budgets`` maps tiers to what they may lose.

    ``same_people_as`` are datasets that hold the same people: losses in all of them add up.
    ``accountant`` says how charges add up: ``renyi``, or ``gaussian`` for Gaussian queries alone.
    """

    name: str
    version: int | None
    neighboring: str | None
    delta: float | None
    privacy_unit: object
    columns: Mapping[str, object] = field(hash=False)
    budgets: Mapping[str, PrivacyLoss] = field(hash=False)
    answer: Answer = field(repr=False, compare=False)
    same_people_as: tuple[str, ...] = ()
    accountant: str | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        columns = fields.child_or_none("columns")
        budgets = fields.child_or_none("budgets")
        return cls(
            fields.text("name"),
            fields.integer_or_none("version"),
            fields.text_or_none("neighboring"),
            fields.number_or_none("delta"),
            fields.whole.get("privacy_unit"),
            MappingProxyType({} if columns is None else dict(columns.whole)),
            MappingProxyType(
                {}
                if budgets is None
                else {tier: PrivacyLoss.read(budgets.child(tier)) for tier in budgets.whole}
            ),
            whole(fields),
            fields.texts("same_people_as") if "same_people_as" in fields.whole else (),
            fields.text_or_none("accountant"),
        )


@dataclass(frozen=True)
class HistoryItem:
    """One hand-out of a release to one user, without its values."""

    id: str
    user: str | None
    query: str
    dataset: str | None
    tier: str | None
    mechanism: str | None
    level: Level
    guarantee: Guarantee
    error: ErrorBars | None
    released_at: datetime | None
    receipt: Receipt | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        error, receipt = fields.child_or_none("error"), fields.child_or_none("receipt")
        return cls(
            fields.text("id"),
            fields.text_or_none("user"),
            fields.text("query"),
            fields.text_or_none("dataset"),
            fields.text_or_none("tier"),
            fields.text_or_none("mechanism"),
            Level.read(fields.child("level")),
            Guarantee.read(fields.child("guarantee")),
            None if error is None else ErrorBars.read(error),
            fields.moment_or_none("released_at"),
            None if receipt is None else Receipt.read(receipt),
            whole(fields),
        )


@dataclass(frozen=True)
class ExposedQuery:
    """The best level of one query that some people hold between them.

    ``composed`` is of all that they hold, where levels are draws of their own.
    """

    query: str
    level: Level
    guarantee: Guarantee
    composed: Composed | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("query"),
            Level.read(fields.child("level")),
            Guarantee.read(fields.child("guarantee")),
            Composed.read_or_none(fields),
        )


@dataclass(frozen=True)
class Reach:
    """The budget of the highest tier that some people ever held."""

    tier: str
    budget: PrivacyLoss

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("tier"), PrivacyLoss.read(fields))


@dataclass(frozen=True)
class Exposure:
    """What a set of users knows together.

    ``could_be`` is the guarantee: all that they are allowed to fetch.  ``released`` is
    what they did fetch: after the fact, and no bound for requests that were chosen by
    what earlier ones answered.  ``independent`` is what the same releases would have cost
    had each been drawn on its own.
    """

    users: tuple[str, ...]
    queries: tuple[ExposedQuery, ...]
    released: PrivacyLoss
    could_be: PrivacyLoss
    independent: PrivacyLoss
    reach: Reach | None
    registrars: Reach | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        reach, registrars = fields.child_or_none("reach"), fields.child_or_none("registrars")
        return cls(
            fields.texts("users"),
            tuple(map(ExposedQuery.read, fields.children("queries"))),
            PrivacyLoss.read(fields.child("released")),
            PrivacyLoss.read(fields.child("could_be")),
            PrivacyLoss.read(fields.child("independent")),
            None if reach is None else Reach.read(reach),
            None if registrars is None else Reach.read(registrars),
            whole(fields),
        )


@dataclass(frozen=True)
class Spending:
    """What one query takes of a tier's budget.  Shares add up; epsilons do not."""

    query: str
    share: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("query"), fields.number_or_none("share"))


@dataclass(frozen=True)
class TierBudget:
    """A tier's account with a dataset."""

    tier: str
    granted: PrivacyLoss
    spent: PrivacyLoss
    remaining: PrivacyLoss
    queries: tuple[Spending, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("tier"),
            PrivacyLoss.read(fields.child("granted")),
            PrivacyLoss.read(fields.child("spent")),
            PrivacyLoss.read(fields.child("remaining")),
            tuple(map(Spending.read, fields.children_or_none("queries"))),
        )


@dataclass(frozen=True)
class Budget:
    """A dataset's accounts: those of the tiers that the caller may see."""

    dataset: str | None
    tiers: tuple[TierBudget, ...]
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text_or_none("dataset"),
            tuple(map(TierBudget.read, fields.children("tiers"))),
            whole(fields),
        )
