"""State what tables, frames and notebooks need of a release or of running totals.

``Release`` and ``RunningTotals`` have these attributes.  They import the modules that show them;
those modules import only these protocols.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

from penstock_client._http.fields import Key
from penstock_client._values.estimates import Distribution, Estimate
from penstock_client._values.histogram import Histogram
from penstock_client._values.interval import Interval
from penstock_client._values.marginals import Marginal
from penstock_client._values.wording import Wording
from penstock_client.models import ErrorBars, Guarantee, MeanParts


class Released(Protocol):
    """Represent what a release and running totals have in common."""

    @property
    def dataset(self) -> str: ...
    @property
    def tier(self) -> str: ...
    @property
    def mechanism(self) -> str: ...
    @property
    def guarantee(self) -> Guarantee: ...
    @property
    def answer(self) -> Mapping[str, object]: ...


class ShownRelease(Released, Protocol):
    """Represent a release's keys and values with their intervals."""

    @property
    def id(self) -> str: ...
    @property
    def query(self) -> str: ...
    @property
    def keys(self) -> tuple[Key, ...]: ...
    @property
    def values(self) -> tuple[float, ...]: ...
    @property
    def error(self) -> ErrorBars: ...
    @property
    def mean(self) -> MeanParts | None: ...
    @property
    def histogram(self) -> Histogram | None: ...
    @property
    def shown_labels(self) -> Mapping[str, str]: ...
    @property
    def estimates(self) -> tuple[Estimate, ...]: ...
    @property
    def distributions(self) -> tuple[Distribution, ...]: ...
    @property
    def marginals(self) -> tuple[Marginal, ...]: ...

    def interval(self, confidence: float) -> Interval: ...
    def labels(self, most: int | None = None) -> list[str]: ...
    def caption(self) -> Sequence[str]: ...


class ShownStream(Protocol):
    """Represent a stream: what people wrote about it, and how its totals share noise."""

    @property
    def name(self) -> str: ...
    @property
    def wording(self) -> Wording: ...
    @property
    def length(self) -> int | None: ...
    @property
    def answer(self) -> Mapping[str, object]: ...


class ShownTotal(Protocol):
    """Represent the running total of one step."""

    @property
    def t(self) -> int: ...
    @property
    def values(self) -> tuple[float, ...]: ...
    @property
    def error(self) -> ErrorBars: ...


class ShownTotals(Released, Protocol):
    """Represent the running totals of a range of steps."""

    @property
    def stream(self) -> str: ...
    @property
    def items(self) -> Sequence[ShownTotal]: ...
    @property
    def days(self) -> Sequence[date]: ...
