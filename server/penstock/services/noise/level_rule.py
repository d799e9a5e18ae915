"""Define the interface of levels: points of one path, or independent draws.

A rule is chosen from a query's mechanism (``kinds.kind``): ``lossless_levels`` or
``independent_levels``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlmodel import Session

from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.ledger import Entry
from penstock.mechanisms.multiple_release import draw_anchor
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Release
from penstock.privacy.target import Target
from penstock.services.context import Server
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.noise.process import Process
from penstock.services.schemas.views import ComposedView

Opened = Callable[[], AbstractContextManager[Session]]
NewDraws = Callable[[Session, Query], Iterator[tuple[int, Steps, Release | None]]]
"""Yields what to store under the lock: each rung, its vector, and the nearest noisier release."""


@dataclass(frozen=True)
class LevelRule(ABC):
    """Represent how the levels of one query are drawn, charged and composed."""

    process: Process
    lossless: ClassVar[bool]
    """True if releases at several levels reveal no more than the most accurate of them."""

    @abstractmethod
    def telling(self, rungs: Iterable[int]) -> list[int]:
        """Return those of ``rungs`` that are charged and composed, the most accurate first."""

    @abstractmethod
    def undrawn(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return those of ``rungs`` that need the exact values, the most accurate first."""

    @abstractmethod
    def target_rung(
        self, opened: Opened, query: Query, tier: Tier, own: int, target: Target, delta: float
    ) -> int:
        """Return the rung that ``target`` names for a tier that is allowed ``own`` or noisier ones.

        ``opened`` gives a session, for the rules that read what was drawn.
        ``target`` is for drawn values, as every target of a ``ReleaseRequest`` is.
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
        """Return by tier, least trusted first, the least noisy rung that stays within ``share``."""

    @abstractmethod
    def composed(self, rungs: Iterable[int], delta: float) -> ComposedView | None:
        """Return the loss of the levels at ``rungs`` together.

        ``None`` if the most accurate reveals all; ``rungs`` are then not read.
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
        """Return the charge for ``rung`` on top of ``charged``, the finest rung and its sum."""

    @abstractmethod
    def covers(self, charged: Iterable[int], rung: int) -> bool:
        """Return True if the charges for the rungs in ``charged`` cover ``rung``."""

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
        """Draw what levels at ``rungs`` need from exact values; ``missing`` ones are undrawn.

        The result is called in the transaction that stores it.  It raises ``Conflict`` if the draw
        does not fit the query as it is by then.
        """

    @abstractmethod
    def leaf_of_draw(self, levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the fields of the leaf that announces a draw of ``levels`` from the data."""

    @abstractmethod
    def leaf_of_exposure(self, levels: Sequence[float]) -> float | list[float]:
        """Return the levels that the actor of an admin action has read, as its leaf states them."""

    @abstractmethod
    def values_missing(self, query: Query) -> str:
        """Return a message: why a requested level needs the exact values."""


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
