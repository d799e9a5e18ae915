"""Represent one release: its values, their errors, and their guarantee."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Self

from penstock_client._http.fields import Fields, Key
from penstock_client._show import frames
from penstock_client._show.figures import Figure, figure_of, wording_of
from penstock_client._show.notebook import page
from penstock_client._show.rounding import percent, short
from penstock_client._values.estimates import Distribution, Estimate
from penstock_client._values.histogram import Histogram
from penstock_client._values.interval import AS_STATED, Interval, half_width
from penstock_client._values.marginals import Marginal
from penstock_client._values.value_errors import ValueErrors
from penstock_client.errors import InvalidArgument
from penstock_client.models import (
    Answer,
    ErrorBars,
    Guarantee,
    Level,
    MeanParts,
    Part,
    Receipt,
    whole,
)
from penstock_client.queries import Query

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Size:
    """Hold which release has the size that counts are shown with, and the name of its noise."""

    release: str
    query: str
    mechanism: str

    @classmethod
    def read_or_none(cls, fields: Fields) -> Self | None:
        size = fields.child_or_none("size")
        return None if size is None else cls(*map(size.text, ("release", "query", "mechanism")))


@dataclass(frozen=True, repr=False)
class Release:
    """Hold the values released for one query at one level.  They never change.

    ``keys`` name the ``values``, one each.  ``tier`` is the tier whose level this is, which
    may be lower than the one that was requested.  The noise is unbiased.  ``mean`` is for
    queries for means: ``values`` are then the means, and ``error`` is that of the least accurate
    one.  ``errors`` is for counts that come with the size of their population, for which
    ``error`` does not hold.  ``histogram`` is for sparse histograms: ``keys`` are then those
    above the threshold, and ``error`` holds for a key before it is known whether it is one of them.
    ``part`` says which of the release's values are here; it is None for all of them.
    ``estimates`` is for moments, regressions and quantiles: what the server estimated from the
    values; ``distributions`` is for quantiles; ``marginals`` has the tables of marginals.
    ``size`` is for counts that are shown with the size of another release: their ``guarantee`` is
    that of the counts alone.  ``shown_labels`` are there after ``with_labels``.
    """

    id: str
    query: str
    dataset: str
    tier: str
    mechanism: str
    level: Level
    guarantee: Guarantee
    granularity: float
    keys: tuple[Key, ...]
    values: tuple[float, ...]
    error: ErrorBars
    asserted_by: str | None
    released_at: datetime
    receipt: Receipt
    answer: Answer = field(compare=False)
    mean: MeanParts | None = None
    errors: ValueErrors | None = None
    histogram: Histogram | None = None
    part: Part | None = None
    estimates: tuple[Estimate, ...] = field(default=(), repr=False)
    distributions: tuple[Distribution, ...] = field(default=(), repr=False)
    marginals: tuple[Marginal, ...] = field(default=(), repr=False)
    size: Size | None = None
    shown_labels: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        values = fields.vector("values")
        mean, errors = fields.child_or_none("mean"), fields.child_or_none("errors")
        error = ErrorBars.read(fields.child("error"))
        return cls(
            id=fields.text("id"),
            query=fields.text("query"),
            dataset=fields.text("dataset"),
            tier=fields.text("tier"),
            mechanism=fields.text("mechanism"),
            level=Level.read(fields.child("level")),
            guarantee=Guarantee.read(fields.child("guarantee")),
            granularity=fields.positive("granularity"),
            keys=fields.keys("keys", len(values)),
            values=values,
            error=error,
            asserted_by=fields.text_or_none("asserted_by"),
            released_at=fields.moment("released_at"),
            receipt=Receipt.read(fields.child("receipt")),
            answer=whole(fields),
            mean=None if mean is None else MeanParts.read(mean, len(values)),
            errors=None
            if errors is None
            else ValueErrors.read(errors, len(values), error.confidence),
            histogram=Histogram.read_from(fields),
            part=Part.read_or_none(fields),
            estimates=Estimate.read_all(fields),
            distributions=Distribution.read_all(fields),
            marginals=Marginal.read_all(fields),
            size=Size.read_or_none(fields),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def noise(self) -> str:
        """Return the name of the noise of the values, with that of a size if it is another."""
        other = self.mechanism if self.size is None else self.size.mechanism
        return self.mechanism if other == self.mechanism else f"{self.mechanism} and {other}"

    def __repr__(self) -> str:
        count = "1 value" if len(self) == 1 else f"{len(self):,} values"
        return (
            f"<Release of {self.query!r} at {self.tier!r}: {count}, {self._error()},"
            f" {self._loss()}>"
        )

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return a lower and an upper end for each value, each at ``confidence`` by itself.

        Raises ``InvalidArgument`` for a confidence outside (0, 1), and for one that the server
        did not state if the noise law is unknown, as for means.
        """
        if self.mean is not None:
            if not math.isclose(confidence, self.error.confidence, rel_tol=1e-12):
                raise InvalidArgument(
                    "For means only the intervals that the server stated are known; call"
                    f" interval({self.error.confidence:g})."
                )
            return Interval(
                confidence, self.error.half_width, AS_STATED, self.mean.lower, self.mean.upper
            )
        width, law = half_width(self.noise, self.granularity, self.error, confidence)
        widths = [width] * len(self)
        if self.errors is not None:
            width_of: dict[ErrorBars, float] = {}
            for error in set(self.errors):
                width_of[error], _ = half_width(self.noise, self.granularity, error, confidence)
            widths = [width_of[error] for error in self.errors]
        return Interval(
            confidence,
            width,
            law,
            tuple(value - half for value, half in zip(self.values, widths, strict=True)),
            tuple(value + half for value, half in zip(self.values, widths, strict=True)),
        )

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas frame with columns ``value``, ``lower``, ``upper``, indexed by key.

        Means also have columns ``centered_sum`` and ``count``, from which each was computed.
        The ends are those at the confidence that the server stated.  ``attrs`` describes the
        release.  Raises ``MissingExtra`` if pandas is not installed.
        """
        return frames.pandas_of(self)

    def to_polars(self) -> "pl.DataFrame":
        """Return a polars frame: ``key`` (``key_1, key_2 ...`` for keys of several parts) first.

        The other columns are those of ``to_pandas``.  Raises ``MissingExtra`` if polars is not
        installed.
        """
        return frames.polars_of(self)

    def to_arrow(self) -> "pa.Table":
        """Return an Arrow table, the one that the server writes as Arrow and Parquet.

        It has the columns of ``to_polars``; the schema's metadata have the rest as JSON.  Raises
        ``MissingExtra`` if pyarrow is not installed.
        """
        return frames.arrow_of(self)

    def with_texts(self, texts: Iterable[str]) -> Self:
        """Return a sparse histogram of hashed texts with those of ``texts`` as keys that have one.

        Bring a list of texts, for instance all titles that you know.  Keys of other texts stay
        hashes.  Nothing is sent to the server.  Raises ``InvalidArgument`` for a release with other
        keys.
        """
        if self.histogram is None:
            raise InvalidArgument(
                f"{self.query!r} is no sparse histogram: its keys are no hashes of texts."
            )
        return replace(self, keys=self.histogram.texts_of(self.keys, texts))

    def with_labels(self, labels: Mapping[str, str]) -> Self:
        """Return the release with labels beside its keys, by the code of a key or of its part.

        Those that hold for a query are ``query.wording.shown_labels``.  Frames have them in columns
        ``label`` (``label_1, label_2 ...``) after the others, and a notebook before the codes.
        """
        return replace(self, shown_labels=dict(labels))

    def caption(self) -> tuple[str, ...]:
        """Return lines that describe the release to people."""
        definition = self.guarantee.definition
        if self.guarantee.rho is not None:
            definition += f", rho {short(self.guarantee.rho)}"
        if self.guarantee.pure_epsilon is not None and self.guarantee.delta:
            definition += f", pure epsilon {short(self.guarantee.pure_epsilon)}"
        lines = [
            f"dataset {self.dataset}, tier {self.tier}",
            f"{self.noise} noise, {self.level.parameter} {short(self.level.value, 6)}",
            f"{self._loss()} ({definition})",
            f"{self._error()}, standard deviation {short(self.error.standard_deviation)}",
        ]
        if self.asserted_by is not None:
            lines.append(f"sensitivity asserted by {self.asserted_by}")
        return tuple(lines)

    def labels(self, most: int | None = None) -> list[str]:
        """Return the first ``most`` keys as texts, behind their labels if these are known."""
        return [frames.labeled(key, self.shown_labels) for key in islice(self.keys, most)]

    def figure(
        self, query: Query | None = None, *, group: Key | None = None, show: str = ""
    ) -> Figure:
        """Return the figure that the server's pages have of this release.

        ``query``, one of ``Client.queries``, gives its title, its unit, and the labels of its keys.
        Of quantiles by group, ``group`` chooses one; without it, it is the first.  Of results by
        two keys, ``show`` is ``map`` for a heat map and ``margins`` for one of margins of error.
        Raises ``InvalidArgument`` for another query, and for a group or a way to show it that there
        is not, and ``NotDrawable`` for numbers that no chart can show.
        """
        return figure_of(self, wording_of(query, self.query), group, show)

    def _repr_html_(self) -> str:
        return page(self)

    def _error(self) -> str:
        return f"±{short(self.error.half_width)} at {percent(self.error.confidence)}"

    def _loss(self) -> str:
        loss = f"epsilon {short(self.guarantee.epsilon)}"
        return f"{loss}, delta {self.guarantee.delta:g}" if self.guarantee.delta else loss
