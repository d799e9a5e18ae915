"""Define what differs between queries whose levels are one path and those of separate draws.

A rule is chosen from a query's mechanism (``kinds.kind``): ``lossless_levels`` or
``independent_levels``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlmodel import Session

from penstock.accounting import Account, Entry
from penstock.mechanisms import IntVector, draw_anchor
from penstock.persistence.tables import Dataset, Query, Release, Tier
from penstock.privacy import Target
from penstock.services.context import Server
from penstock.services.noise.process import Process
from penstock.services.schemas.views import ComposedView

NewDraws = Callable[[Session, Query], Iterator[tuple[int, IntVector, Release | None]]]
"""Yields what to store under the lock: the rung, its vector, and the nearest noisier release."""


@dataclass(frozen=True)
class LevelRule(ABC):
    """Represent how the levels of one query are drawn, charged and composed."""

    process: Process
    lossless: ClassVar[bool]
    """Whether releases at several levels tell no more than the most accurate of them."""

    @abstractmethod
    def telling(self, rungs: Iterable[int]) -> list[int]:
        """Return what of ``rungs`` is charged and composed, the most accurate first."""

    @abstractmethod
    def undrawn(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return which of ``rungs`` only the exact values can give; the most accurate first."""

    @abstractmethod
    def target_rung(
        self, session: Session, query: Query, tier: Tier, own: int, target: Target, delta: float
    ) -> int:
        """Return the rung that ``target`` names for a tier that is allowed ``own`` at most.

        Raises ``InvalidInput`` for a target that no level meets, and may raise
        ``ClearanceTooLow``; the caller refuses every rung below ``own``.
        """

    @abstractmethod
    def shared_rungs(
        self,
        share: Fraction,
        funded: Sequence[tuple[Tier, Account]],
        dimension: int,
        level_count: int,
    ) -> dict[str, int]:
        """Return by tier, least trusted first, the least noisy rung that keeps to ``share``."""

    @abstractmethod
    def composed(self, rungs: Iterable[int], delta: float) -> ComposedView | None:
        """Return the loss of the levels at ``rungs`` together.

        ``None`` where the most accurate tells all; ``rungs`` are then not looked at.
        """

    @abstractmethod
    def price(
        self,
        rung: int,
        account: Account,
        dimension: int,
        level_count: int,
        charged: tuple[int, Entry] | None,
    ) -> Entry:
        """Return the charge for ``rung`` beside ``charged``, the finest rung paid and its sum."""

    @abstractmethod
    def covers(self, charged: Iterable[int], rung: int) -> bool:
        """Return whether charges for the rungs in ``charged`` pay for ``rung``."""

    @abstractmethod
    def require_drawable(self, query: Query) -> None:
        """Raise ``IntegrityViolation`` unless a level without a release may be drawn now."""

    @abstractmethod
    def draw_again(
        self,
        server: Server,
        dataset: Dataset,
        query: Query,
        rungs: Sequence[int],
        missing: Sequence[int],
        exact: IntVector,
    ) -> NewDraws:
        """Draw what levels at ``rungs`` need from exact values, ``missing`` being undrawn.

        The result is called in the transaction that stores it.  It raises ``Conflict`` where
        what was drawn does not fit the query as it is by then.
        """

    @abstractmethod
    def leaf_of_draw(self, levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the fields of the leaf that announces a draw of ``levels`` from the data."""

    @abstractmethod
    def leaf_of_exposure(self, levels: Sequence[float]) -> float | list[float]:
        """Return how the leaf of an admin action states the levels that its actor has read."""

    @abstractmethod
    def values_missing(self, query: Query) -> str:
        """Return why a level that is asked for needs the exact values."""


def drawn_at(
    server: Server, process: Process, rungs: Sequence[int], exact: IntVector
) -> list[tuple[int, IntVector]]:
    """Return independent draws around exact values in lattice steps, one for each rung."""
    return [
        (
            rung,
            draw_anchor(process.mechanism, exact, process.ladder.value(rung), server.randomness()),
        )
        for rung in rungs
    ]
