"""Compose what was released of the versions of a dataset, or of several of the same people.

Everything is composed over the versions that one privacy unit may be in, at the sum of their
deltas; if there are several such sets of versions, the worst one counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from penstock.accounting.charging.budget import converted_epsilon
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.persistence.tables.datasets import Dataset
from penstock.services.computations.computations import compose
from penstock.services.computing import PATIENCE, Computing
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.version_chains import chains, split
from penstock.services.schemas.views import PrivacyBudget

MOST_SETS = 64
"""The number of sets of versions of several datasets up to which each set is composed; if there
are more, the losses of the datasets are added up."""

FEW = 64
"""The number of different releases of one report up to which they are composed in this process;
more are composed elsewhere.  One of Laplace noise takes about 3 ms of a processor, one of Gaussian
noise 0.02 ms."""

Distinct = frozenset[tuple[PlacedRelease, int]]
Compose = Callable[[Distinct, float], float]
"""A function that returns the epsilon of releases, each with its multiplicity, at a delta."""


@dataclass(frozen=True)
class Line:
    """Hold releases of one version of a dataset, and the account that paid for them.

    ``paid`` is false for releases that it did not pay for: its own bound says nothing of
    them, and its failure probabilities are the least that theirs can be.
    """

    version: Dataset
    account: TierAccount | None
    releases: Counter[PlacedRelease]
    paid: bool = True


# A repeated look at the same users or budget composes the same levels again.
@lru_cache(maxsize=256)
def composed_here(releases: Distinct, delta: float) -> float:
    """Compose releases in this process; see ``Compose``."""
    return compose(list(releases), delta)


def composing(computing: Computing, person: str) -> Compose:
    """Return a function that composes ``person``'s report: few releases here, many elsewhere."""
    left = FEW

    def composed_for(releases: Distinct, delta: float) -> float:
        nonlocal left
        if len(releases) <= left:
            left -= len(releases)
            return composed_here(releases, delta)
        # Sorted, so that the same releases make the same computation.
        ordered = sorted(releases, key=repr)
        return computing.run(person, PATIENCE, compose, ordered, delta)

    return composed_for


def composed(lines: Sequence[Line], by: Compose = composed_here) -> PrivacyBudget:
    """Return the tight composition over the versions of a dataset, one line per version.

    The versions may belong to several datasets of the same people.
    """
    apart = split([line.version for line in lines])
    if len(apart) > 1 and math.prod(len(chains(component)) for component in apart) > MOST_SETS:
        names = [{version.folded for version in component} for component in apart]
        return added(
            composed([line for line in lines if line.version.folded in name], by) for name in names
        )
    by_version = {which(line.version): line for line in lines}
    amounts = [
        _of_chain([by_version[which(version)] for version in chain], by)
        for chain in chains([line.version for line in lines])
    ]
    return PrivacyBudget(
        max((amount.epsilon for amount in amounts), default=0.0),
        max((amount.delta for amount in amounts), default=0.0),
    )


def which(version: Dataset) -> tuple[str, int]:
    """Return a key that identifies one version among those of all datasets."""
    return version.folded, version.version


def added(amounts: Iterable[PrivacyBudget]) -> PrivacyBudget:
    """Return the sums of epsilons and of deltas."""
    listed = list(amounts)
    return PrivacyBudget(
        sum(amount.epsilon for amount in listed), sum(amount.delta for amount in listed)
    )


def _of_chain(lines: Sequence[Line], by: Compose) -> PrivacyBudget:
    """Return the joint loss of releases of versions that a unit may be in, all of them together.

    It never exceeds the sum of the bounds that the filters themselves imply.  The failure
    probabilities already charged are subtracted from delta first.
    """
    lines = [line for line in lines if line.releases]
    if not lines:
        return PrivacyBudget(0.0, 0.0)
    delta = min(sum(line.version.delta for line in lines), math.nextafter(1, 0))
    accounts = [line.account for line in lines if line.account is not None]
    failure = sum(account.spent.cost.failure for account in accounts)
    releases = Counter[PlacedRelease]()
    for line in lines:
        releases.update(line.releases)
    epsilon = by(frozenset(releases.items()), delta - failure)
    if len(accounts) == len(lines) and all(line.paid for line in lines):
        bound = sum(
            converted_epsilon(
                line.account.account.order,
                line.account.spent.cost.loss,
                line.version.delta - line.account.account.failure_limit,
            )
            for line in lines
            if line.account is not None
        )
        epsilon = min(epsilon, bound)
    return PrivacyBudget(epsilon, delta)
