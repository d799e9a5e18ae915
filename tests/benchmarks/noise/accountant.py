"""Measure the tight figure of a hundred mixed queries, beside dp-accounting's own composition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats
from tests.benchmarks.figures import Figure
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.accounting import PlacedRelease, composed_epsilon
from penstock.privacy import Sensitivity

DELTA = 1e-6
FINE = Fraction(1, 2**12)
ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
INTERVAL = 1e-4
"""dp-accounting's own grid of losses, at its default."""

AGREEMENT = 0.01
"""Relative: how far apart both figures may be, at dp-accounting's default grid."""


@dataclass(frozen=True)
class Setting:
    """Hold how many queries, a third of each mechanism, no two alike; and how often."""

    queries: int = 100
    rounds: int = 5


def placed(queries: int) -> list[PlacedRelease]:
    """Return Gaussian, Laplace and Poisson releases in turns."""
    found = []
    for place in range(queries):
        name, step, level = (
            ("gaussian", FINE, Fraction(1000 + 10 * place)),
            ("laplace", FINE, Fraction(60 + place)),
            ("poisson", Fraction(1), Fraction(2000 + 20 * place)),
        )[place % 3]
        found.append(PlacedRelease(name, step, level, ONE))
    return found


def _their_poisson(mean: float) -> pld.PrivacyLossDistribution:
    """Return one direction of Poisson noise; what is cut off is set apart, as it drops it else."""
    outcomes = range(int(mean - 9 * mean**0.5), int(mean + 9 * mean**0.5))
    plain, moved = (stats.poisson.logpmf(np.array(outcomes) - shift, mean) for shift in (0, 1))
    lower, upper = (dict(zip(outcomes, logs, strict=True)) for logs in (moved, plain))
    for logs, place in ((lower, -1), (upper, -2)):
        missing = max(1 - float(np.exp(list(logs.values())).sum()), 1e-300)
        logs[place] = float(np.log(missing))
    return pld.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=INTERVAL, symmetric=False
    )


def theirs(releases: Sequence[PlacedRelease]) -> float:
    """Compose by dp-accounting, one release after the other, as its pages do it."""
    losses = []
    for release in releases:
        level = float(release.level)
        if release.mechanism == "gaussian":
            losses.append(
                pld.from_gaussian_mechanism(level**0.5, value_discretization_interval=INTERVAL)
            )
        elif release.mechanism == "laplace":
            losses.append(pld.from_laplace_mechanism(level, value_discretization_interval=INTERVAL))
        else:
            losses.append(_their_poisson(level))
    total = reduce(lambda a, b: a.compose(b), losses)
    return float(total.get_epsilon_for_delta(DELTA))


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return both times, their ratio, and both figures."""
    releases = placed(setting.queries)
    ours_is, theirs_is = composed_epsilon(releases, DELTA), theirs(releases)
    assert abs(ours_is / theirs_is - 1) < AGREEMENT, f"{ours_is} is not {theirs_is}"
    tasks: dict[str, Callable[[], object]] = {
        "report": lambda: composed_epsilon(releases, DELTA),
        "dp-accounting": lambda: theirs(releases),
    }
    taken = in_turns(setting.rounds, tasks)
    count = setting.queries
    return [
        median(f"report of {count} queries", taken["report"], "s"),
        median(f"dp-accounting, {count} queries", taken["dp-accounting"], "s"),
        ratio("dp-accounting over the report", taken["dp-accounting"], taken["report"]),
        Figure("epsilon of the report", ours_is, ""),
        Figure("epsilon of dp-accounting", theirs_is, ""),
    ]
