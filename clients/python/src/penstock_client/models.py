"""Represent the server's answers as plain values.

Each class reads itself from the ``Fields`` of an answer.  Fields that the contract requires are
required here; others are None if an answer leaves them out.  ``answer`` is the whole JSON object
that the server sent, with fields that this version does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client._values.wording import Wording
from penstock_client.errors import ProtocolError

Answer = Mapping[str, object]


def whole(fields: Fields) -> Answer:
    """Return the whole answer, read-only."""
    return MappingProxyType(dict(fields.whole))


@dataclass(frozen=True)
class PrivacyLoss:
    """Hold a privacy loss, or a budget for one.  ``epsilon`` is None if it is unbounded."""

    epsilon: float | None
    delta: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.number_or_none("epsilon"), fields.number("delta"))


@dataclass(frozen=True)
class Level:
    """Hold a noise level, in the unit of the mechanism's parameter (variance, scale, mean)."""

    parameter: str
    value: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("parameter"), fields.number("value"))


@dataclass(frozen=True)
class Guarantee:
    """Hold a privacy guarantee; ``pure_epsilon`` is that of Laplace noise at every delta."""

    definition: str
    epsilon: float | None
    delta: float
    rho: float | None = None
    mu: float | None = None
    pure_epsilon: float | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("definition"),
            fields.number_or_none("epsilon"),
            fields.number("delta"),
            *map(fields.number_or_none, ("rho", "mu", "pure_epsilon")),
        )


@dataclass(frozen=True)
class Composed:
    """Hold the composed loss of levels of one query that were drawn independently."""

    levels: tuple[float, ...]
    epsilon: float | None
    delta: float

    @classmethod
    def read_or_none(cls, fields: Fields) -> Self | None:
        """Read the field ``composed``; None if the query's levels are lossless."""
        child = fields.child_or_none("composed")
        if child is None:
            return None
        return cls(child.vector("levels"), child.number_or_none("epsilon"), child.number("delta"))


@dataclass(frozen=True)
class ErrorBars:
    """Hold the error of one value against the exact answer, in the unit of the values.

    ``half_width`` is the margin of error: half the two-sided interval at ``confidence``.
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
class Part:
    """Hold which of a release's ``count`` values are here: from ``first`` to ``last``.

    Positions count from 0, and both ends are included; both are None if no value is here.
    """

    first: int | None
    last: int | None
    count: int

    @classmethod
    def read_or_none(cls, fields: Fields) -> Self | None:
        part = fields.child_or_none("part")
        if part is None:
            return None
        first, last = part.integer_or_none("first"), part.integer_or_none("last")
        return cls(first, last, part.integer("count"))


@dataclass(frozen=True)
class MeanParts:
    """Hold the sums and counts from which means were computed, one entry for each key.

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
    """Hold the place of a release in the audit log."""

    index: int | None
    leaf_hash: str
    checkpoint: str | None = None
    leaf: str | None = None
    """The leaf's text, as it was hashed."""

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
    """Represent the user whose token this is."""

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
    """Represent a source of records, as declared.  ``budgets`` maps tiers to their budgets.

    ``same_people_as`` have the same people, so losses add up; ``accountant`` says how: ``renyi``,
    or ``gaussian`` for Gaussian queries only.  ``wording`` is for readers.
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
    sentence: str | None = None
    wording: Wording = field(default_factory=Wording)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        people = fields.texts("same_people_as") if "same_people_as" in fields.whole else ()
        tiers = getattr(fields.child_or_none("budgets"), "whole", ())
        return cls(
            name=fields.text("name"),
            version=fields.integer_or_none("version"),
            neighboring=fields.text_or_none("neighboring"),
            delta=fields.number_or_none("delta"),
            privacy_unit=fields.whole.get("privacy_unit"),
            columns=MappingProxyType(dict(getattr(fields.child_or_none("columns"), "whole", {}))),
            budgets=MappingProxyType(
                {tier: PrivacyLoss.read(fields.child("budgets").child(tier)) for tier in tiers}
            ),
            answer=whole(fields),
            same_people_as=people,
            accountant=fields.text_or_none("accountant"),
            sentence=fields.text_or_none("sentence"),
            wording=Wording.read(fields),
        )


@dataclass(frozen=True)
class HistoryItem:
    """Represent one release that was given to one user, without its values."""

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
            id=fields.text("id"),
            user=fields.text_or_none("user"),
            query=fields.text("query"),
            dataset=fields.text_or_none("dataset"),
            tier=fields.text_or_none("tier"),
            mechanism=fields.text_or_none("mechanism"),
            level=Level.read(fields.child("level")),
            guarantee=Guarantee.read(fields.child("guarantee")),
            error=None if error is None else ErrorBars.read(error),
            released_at=fields.moment_or_none("released_at"),
            receipt=None if receipt is None else Receipt.read(receipt),
            answer=whole(fields),
        )


@dataclass(frozen=True)
class ExposedQuery:
    """Hold the most accurate level of one query that a group of users has.

    ``composed`` is the composed loss of all levels that they have, if these are independent
    draws.
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
    """Hold the budget of the highest tier that any of a group of users ever held."""

    tier: str
    budget: PrivacyLoss

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("tier"), PrivacyLoss.read(fields))


@dataclass(frozen=True)
class Exposure:
    """Hold what a group of users could learn together.

    ``could_be`` is the bound: the loss of all that they are allowed to fetch.  ``released`` is
    the loss of what they did fetch; it is computed afterwards, and is not a bound if they chose
    requests by earlier answers.  ``independent`` is what the same releases would have cost if
    each had been drawn independently.
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
            users=fields.texts("users"),
            queries=tuple(map(ExposedQuery.read, fields.children("queries"))),
            released=PrivacyLoss.read(fields.child("released")),
            could_be=PrivacyLoss.read(fields.child("could_be")),
            independent=PrivacyLoss.read(fields.child("independent")),
            reach=None if reach is None else Reach.read(reach),
            registrars=None if registrars is None else Reach.read(registrars),
            answer=whole(fields),
        )


@dataclass(frozen=True)
class Spending:
    """Hold the share of a tier's budget that one query takes.  Shares add up; epsilons do not."""

    query: str
    share: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("query"), fields.number_or_none("share"))


@dataclass(frozen=True)
class TierBudget:
    """Hold what a tier was granted of a dataset's privacy, has spent, and has left."""

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
    """Hold a dataset's budget, for each tier that the caller may see."""

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
