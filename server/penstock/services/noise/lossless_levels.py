"""Draw, charge and compose queries whose levels are points of one path of noise.

Every noisier level is the most accurate one with more noise on top: it reveals nothing beyond that,
so only the most accurate level is charged and composed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlmodel import Session, col, select
from typing_extensions import override

from penstock.accounting.calibration.levels import rung_for_share
from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.ledger import Entry
from penstock.accounting.charging.raising import raising
from penstock.errors import Conflict, IntegrityViolation
from penstock.mechanisms.multiple_release import raise_anchor
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Release
from penstock.privacy.target import Target
from penstock.services.context import Server
from penstock.services.noise.level_rule import LevelRule, NewDraws, Opened
from penstock.services.noise.long_vectors.drawing import Drawing
from penstock.services.noise.long_vectors.long_vector import Steps, at_hand, opened
from penstock.services.noise.long_vectors.manifest import is_manifest
from penstock.services.noise.sealing import open_steps
from penstock.services.schemas.views import ComposedView


@dataclass(frozen=True)
class LosslessLevels(LevelRule):
    """Represent the levels of one path: several releases reveal what the best one reveals."""

    lossless: ClassVar[bool] = True

    @override
    def telling(self, rungs: Iterable[int]) -> list[int]:
        """Return only the most accurate of ``rungs``."""
        return sorted(set(rungs))[:1]

    @override
    def undrawn(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return the most accurate of ``rungs`` if it is more accurate than the ceiling."""
        return [rung for rung in (min(rungs),) if rung < query.ceiling]

    @override
    def target_rung(
        self, opened: Opened, query: Query, tier: Tier, own: int, target: Target, delta: float
    ) -> int:
        """Return the least noisy rung that meets ``target``; any level may be drawn."""
        return self.process.rung(target, delta)

    @override
    def shared_rungs(
        self,
        share: Fraction,
        funded: Sequence[tuple[Tier, Account]],
        dimension: int,
        level_count: int,
    ) -> dict[str, int]:
        """Return by tier the least noisy rung within ``share``; never noisier at a higher tier."""
        process = self.process
        rungs: dict[str, int] = {}
        finest = process.ladder.last
        for tier, account in funded:
            own = rung_for_share(
                process.mechanism,
                process.ladder,
                share,
                process.sensitivity,
                account,
                dimension,
                level_count,
            )
            # A higher tier's account has another order, at which the same level may cost more.
            finest = min(finest, own)
            rungs[tier.name] = finest
        return rungs

    @override
    def composed(self, rungs: Iterable[int], delta: float) -> ComposedView | None:
        """Return ``None``: the most accurate level reveals all."""
        return None

    @override
    def price(
        self,
        rung: int,
        account: Account,
        dimension: int,
        level_count: int,
        charged: tuple[int, Entry] | None,
    ) -> Entry:
        """Return the full price of ``rung``, or its difference to what was ``charged``."""
        process = self.process
        if charged is None:
            return process.price(rung, account, dimension, level_count)
        finest, paid = charged
        return raising(
            process.mechanism,
            process.ladder,
            charged=paid,
            old=process.ladder.value(finest),
            new=process.ladder.value(rung),
            sensitivity=process.sensitivity,
            account=account,
            dimension=dimension,
            level_count=level_count,
        )

    @override
    def covers(self, charged: Iterable[int], rung: int) -> bool:
        """Return True if ``rung`` or a more accurate one was charged."""
        return any(finer <= rung for finer in charged)

    @override
    def require_drawable(self, query: Query) -> None:
        """Do nothing: a new level is drawn between its nearest releases."""

    @override
    def draw_again(
        self,
        server: Server,
        dataset: Dataset,
        query: Query,
        rungs: Sequence[int],
        missing: Sequence[int],
        exact: IntVector,
    ) -> NewDraws:
        """Draw a new anchor in addition to the old one if ``rungs`` are more accurate."""
        process, finest = self.process, min(rungs)
        with server.database.read() as session:
            anchor = _anchor(session, query)
            steps = self._stored(server, dataset, query, anchor)
        drawn: Steps | None = None
        if finest < anchor.rung and process.is_long(query):
            drawing = Drawing(server, dataset, query, process.mechanism, process.ladder)
            drawn = drawing.raised(finest, exact, (anchor.rung, steps))
        elif finest < anchor.rung:
            noisy = (process.ladder.value(anchor.rung), at_hand(steps))
            level = process.ladder.value(finest)
            drawn = raise_anchor(process.mechanism, exact, noisy, level, server.randomness())

        def new(session: Session, current: Query) -> Iterator[tuple[int, Steps, Release | None]]:
            if current.ceiling <= finest:
                return
            beside = _anchor(session, current)
            if drawn is None or beside.id != anchor.id:
                raise Conflict(
                    f"The ceiling of {query.readable!r} changed in the meantime; try again."
                )
            yield finest, drawn, beside

        return new

    def _stored(self, server: Server, dataset: Dataset, query: Query, anchor: Release) -> Steps:
        if is_manifest(anchor.ciphertext):
            return opened(server, dataset, query, anchor, anchor.ciphertext)
        return open_steps(server, dataset, query, anchor, self.process.mechanism.parts)

    @override
    def leaf_of_draw(self, levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the new ceiling."""
        return {"ceiling": levels[0]}

    @override
    def leaf_of_exposure(self, levels: Sequence[float]) -> float | list[float]:
        """Return the most accurate level."""
        return levels[0]

    @override
    def values_missing(self, query: Query) -> str:
        """Return a message: the level is more accurate than the ceiling."""
        ceiling = self.process.level(query.ceiling).value
        return f"A level of {query.readable!r} is more accurate than its ceiling, {ceiling:g}"


def _anchor(session: Session, query: Query) -> Release:
    """Return the most accurate release.  Raises ``IntegrityViolation`` without one."""
    release = session.exec(
        select(Release)
        .where(col(Release.query_id) == query.id)
        .order_by(col(Release.rung))
        .limit(1)
    ).first()
    if release is None:
        raise IntegrityViolation(
            f"Query {query.readable!r} has no release as accurate as its anchor; nothing is drawn."
            " Restore the database from a backup."
        )
    return release
