"""Draw, charge and compose queries whose levels are independent draws.

These queries have generalized Gaussian noise of most powers.  None of their releases can be drawn
from another one, and exact values are not stored.  So every level is drawn when the data are read,
at the levels that tiers have then, and no other level is ever released; a tier that may see several
of them is charged for all, and their joint loss is their composition.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar

from sqlalchemy import bindparam
from sqlmodel import Session, col, select
from typing_extensions import override

from penstock.accounting.calibration.levels import excess_of_share, near_share
from penstock.accounting.calibration.search import least_rung
from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.ledger import NOTHING, Entry, share_of
from penstock.errors import ClearanceTooLow, IntegrityViolation, InvalidInput
from penstock.mechanisms.generalized_gaussian.loss_distribution import epsilon_of
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Release
from penstock.privacy.target import Target, TargetKind
from penstock.services.context import Server
from penstock.services.noise.level_rule import LevelRule, NewDraws, Opened, drawn_at
from penstock.services.noise.long_vectors.drawing import Drawing
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.noise.process import Process
from penstock.services.repository.levels import paid_rungs
from penstock.services.schemas.views import ComposedView

_DRAWN = select(Release.rung).where(col(Release.query_id) == bindparam("query_id"))


@dataclass(frozen=True)
class IndependentLevels(LevelRule):
    """Represent levels that are independent draws: several reveal more than the best one."""

    lossless: ClassVar[bool] = False

    @override
    def telling(self, rungs: Iterable[int]) -> list[int]:
        """Return all of ``rungs``, each once, the most accurate first."""
        return sorted(set(rungs))

    @override
    def undrawn(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return those of ``rungs`` that were not drawn yet."""
        drawn = session.exec(_DRAWN, params={"query_id": query.id}).all()
        return sorted(set(rungs) - set(drawn))

    @override
    def target_rung(
        self, opened: Opened, query: Query, tier: Tier, own: int, target: Target, delta: float
    ) -> int:
        """Return the rung of the level that ``target`` names, among the levels that were drawn.

        A tier may request only levels that it has been charged for.  Raises ``InvalidInput`` if
        none of them meets ``target`` exactly, and ``ClearanceTooLow`` for an epsilon whose level is
        more accurate than ``own``.
        """
        process = self.process
        with opened() as session:
            paid = paid_rungs(session, query, tier)
            drawn = session.exec(_DRAWN, params={"query_id": query.id}).all()
        rungs = sorted(rung for rung in drawn if rung >= own and rung in paid)
        # Finding the rung of an epsilon takes tenths of a second, which a caller could repeat; the
        # epsilons of the few existing levels are cached.
        if target.kind is TargetKind.EPSILON:
            if own > 0 and process.guarantee(own - 1, delta).epsilon <= target.value:
                raise ClearanceTooLow(
                    f"A level of epsilon {target.value:g} is more accurate than {tier.name!r}"
                    f" allows for {query.readable!r}, epsilon"
                    f" {process.guarantee(own, delta).epsilon:.4g}. Ask for that or less, or ask an"
                    " admin for a higher clearance."
                )
            named = next((rung for rung in rungs if self._is_rung_of(rung, target, delta)), None)
        else:
            named = process.rung(target, delta)
            if named < own:
                return named  # refused by its clearance
        if named not in rungs:
            levels = ", ".join(f"{process.level(rung).value:g}" for rung in rungs)
            raise InvalidInput(
                f"Query {query.readable!r} has no level of {target.kind} {target.value:g} and"
                f" cannot get one: generalized Gaussian noise with p = {process.p:g} has no"
                f" lossless levels; each is an independent draw, made when the data were"
                f" read. Request an existing level ({process.mechanism.parameter} {levels}), or"
                " that of a tier.",
                pointer=f"/{target.kind}",
            )
        return named

    def _is_rung_of(self, rung: int, target: Target, delta: float) -> bool:
        """Return True if ``rung`` is the least noisy one whose epsilon is at most the target's."""
        if self.process.guarantee(rung, delta).epsilon > target.value:
            return False
        return rung == 0 or self.process.guarantee(rung - 1, delta).epsilon > target.value

    @override
    def shared_rungs(
        self,
        share: Fraction,
        funded: Sequence[tuple[Tier, Account]],
        dimension: int,
        level_count: int,
    ) -> dict[str, int]:
        """Return by tier, least trusted first, the least noisy rung within all shares.

        A tier is charged for the levels below it as well, so each level has to fit the shares of
        all tiers that see it.  If nothing more accurate fits, a tier gets the level of the tier
        below it, which is the same release and costs nothing more.  Raises ``InvalidInput`` if even
        the noisiest level costs the first tier more.
        """
        process = self.process
        spent = [NOTHING] * len(funded)
        rungs: dict[str, int] = {}
        last = process.ladder.last + 1
        near = near_share(
            process.mechanism, process.ladder, share, process.sensitivity, funded[0][1]
        )
        for place, (tier, _) in enumerate(funded):
            accounts = [account for _, account in funded[place:]]
            terms = share, accounts, spent[place:], dimension, level_count
            rung = least_rung(partial(_excess, process, *terms), near, last - 1)
            if rung > process.ladder.last:
                raise InvalidInput(
                    "Even the noisiest level of this query,"
                    f" {float(process.ladder.value(process.ladder.last)):g}, costs more than a"
                    f" share of {float(share):g}; take a larger one.",
                    pointer="/share",
                )
            if rung < last:
                last = rung
                spent[place:] = [
                    before + process.price(last, account, dimension, level_count)
                    for before, account in zip(spent[place:], accounts, strict=True)
                ]
            rungs[tier.name] = near = last
        return rungs

    @override
    def composed(self, rungs: Iterable[int], delta: float) -> ComposedView | None:
        """Return the composed loss of the levels at ``rungs``."""
        return _composed(self.process, tuple(self.telling(rungs)), delta)

    @override
    def price(
        self,
        rung: int,
        account: Account,
        dimension: int,
        level_count: int,
        charged: tuple[int, Entry] | None,
    ) -> Entry:
        """Return the full price of ``rung``, whatever was charged for other levels."""
        return self.process.price(rung, account, dimension, level_count)

    @override
    def covers(self, charged: Iterable[int], rung: int) -> bool:
        """Return True if ``rung`` itself was charged."""
        return rung in charged

    @override
    def require_drawable(self, query: Query) -> None:
        """Raise ``IntegrityViolation``: every level was drawn when the data were read."""
        raise IntegrityViolation(
            f"Query {query.readable!r} has lost a release that was drawn at its registration;"
            f" nothing is drawn in its place. Restore the database from a backup."
        )

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
        """Draw every one of ``missing`` around the exact values."""
        process = self.process
        drawn: Sequence[tuple[int, Steps]]
        if process.is_long(query):
            drawing = Drawing(server, dataset, query, process.mechanism, process.ladder)
            drawn = drawing.anchors(missing, exact)
        else:
            drawn = drawn_at(server, process, missing, exact)

        def new(session: Session, current: Query) -> Iterator[tuple[int, Steps, Release | None]]:
            # A parallel request for the same has drawn it, and this draw was not seen.
            still = self.undrawn(session, current, missing)
            for rung, steps in drawn:
                if rung in still:
                    yield rung, steps, None

        return new

    @override
    def leaf_of_draw(self, levels: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return all levels that are drawn."""
        return {"levels": list(levels)}

    @override
    def leaf_of_exposure(self, levels: Sequence[float]) -> float | list[float]:
        """Return all levels."""
        return list(levels)

    @override
    def values_missing(self, query: Query) -> str:
        """Return a message: the level was not drawn yet."""
        return f"A level of {query.name!r} was not drawn yet, and each level is an independent draw"


def _excess(
    process: Process,
    share: Fraction,
    accounts: Sequence[Account],
    spent: Sequence[Entry],
    dimension: int,
    level_count: int,
    rung: int,
) -> float:
    """Return how much one more level exceeds the share of the account with the least room for it.

    As a logarithm; at most 0 if every account has room.
    """
    most = -math.inf
    for account, before in zip(accounts, spent, strict=True):
        both = before + process.price(rung, account, dimension, level_count)
        most = max(most, excess_of_share(both, share_of(account, share)))
    return most


# Listings show it for every tier, and sets of levels rarely change.
@lru_cache(maxsize=4096)
def _composed(process: Process, rungs: tuple[int, ...], delta: float) -> ComposedView:
    mechanism = process.mechanism
    if not isinstance(mechanism, GeneralizedGaussian):
        raise TypeError(f"{mechanism.name} noise is lossless: there is nothing to compose")
    shifts = (
        mechanism.worst_shift(process.ladder.value(rung), process.sensitivity) for rung in rungs
    )
    kinds = tuple(kind for worst in shifts for kind in worst)
    levels = [process.level(rung).value for rung in rungs]
    return ComposedView(levels, epsilon_of(kinds, delta), delta)
