"""Test that every epsilon that the server prints is the tight one, computed here by other means."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from tests.unit.accounting import exact_losses, quadrature
from tests.unit.worlds import World

from penstock.accounting import account_of
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.exposure import exposure
from penstock.services.previews import query_preview
from penstock.services.schemas.queries import RegisteredQuery

pytestmark = pytest.mark.only("sqlite")

DELTA = 1e-6
FAILURES = 2e-3
"""Relative: what the failures that samplers are charged move a figure read beside them."""


def gaussian(mu: float, delta: float = DELTA) -> float:
    """Return the analytic curve (Balle, Wang 2018, Theorem 8), inverted here."""

    def excess(epsilon: float) -> float:
        upper = stats.norm.logsf(epsilon / mu - mu / 2)
        lower = epsilon + stats.norm.logsf(epsilon / mu + mu / 2)
        return float(math.exp(upper) * -math.expm1(lower - upper)) - delta

    return float(brentq(excess, 0, 10 * mu + mu * mu, xtol=1e-14))


def poisson(mean: float) -> float:
    pair = exact_losses.poisson_noise(mean, 1, int(mean + 14 * mean**0.5 + 60))
    ways = (pair, exact_losses.turned(pair))
    return max(exact_losses.epsilon_at(way, DELTA) for way in ways)


def skellam(variance: float) -> float:
    part = stats.poisson.pmf(np.arange(int(variance / 2 + 14 * variance**0.5 + 60)), variance / 2)
    masses = np.convolve(part, part[::-1])
    return exact_losses.epsilon_at((masses[:-1], masses[1:]), DELTA)


def pushed(world: World, mechanism: str, epsilon: float = 0.5) -> float:
    """Return the level that one query of three values was given at the highest tier."""
    world.push(mechanism, mechanism=mechanism, levels={"internal": {"epsilon": epsilon}})
    return world.ask("ines", mechanism).view.level.value


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "poisson", "skellam"])
def test_a_release_prints_the_epsilon_of_its_law_and_so_does_a_preview(
    world: World, mechanism: str
) -> None:
    level = pushed(world, mechanism)
    exact = {
        "gaussian": lambda: gaussian(1 / math.sqrt(level)),
        "laplace": lambda: 1 / level,
        "poisson": lambda: poisson(level),
        "skellam": lambda: skellam(level),
    }[mechanism]()
    released = world.ask("ines", mechanism).view
    assert released.level.value == level
    assert exact * (1 - 1e-9) <= released.guarantee.epsilon <= exact * (1 + 1e-7)
    assert released.guarantee.delta == (0 if mechanism == "laplace" else DELTA)
    # A rung is at most a thousandth above the level that the epsilon was asked for at.
    assert 0.498 < released.guarantee.epsilon <= 0.5
    again = query_preview.preview(world.server, OPERATOR, RegisteredQuery(query=mechanism))
    assert again.tiers[-1].guarantee.epsilon == released.guarantee.epsilon


@pytest.mark.parametrize("mechanism", ["gaussian", "poisson", "skellam"])
def test_the_exposure_and_the_spending_of_one_query_are_its_guarantee(
    world: World, mechanism: str
) -> None:
    pushed(world, mechanism)
    guarantee = world.ask("ines", mechanism).view.guarantee.epsilon
    seen = exposure.of(world.server, OPERATOR, ["ines"], "sites")
    spent = budgets.show(world.server, OPERATOR, "sites").tiers[-1].spent
    for amount in (seen.released, seen.could_be, seen.independent, spent):
        assert guarantee <= amount.epsilon <= guarantee * (1 + FAILURES)


def test_the_exposure_of_several_queries_is_that_of_an_integral(world: World) -> None:
    mus = [1 / math.sqrt(pushed(world, "gaussian"))]
    scale, variance = pushed(world, "laplace"), pushed(world, "skellam")
    part = stats.poisson.pmf(np.arange(int(variance / 2 + 14 * variance**0.5 + 60)), variance / 2)
    masses = np.convolve(part, part[::-1])
    losses = [
        quadrature.gaussian(mus[0]),
        quadrature.laplace(1 / scale / 2**12, 2**12),
        quadrature.table((masses[:-1], masses[1:])),
    ]
    seen = exposure.of(world.server, OPERATOR, ["ines"], "sites")
    for epsilon in (seen.released.epsilon, seen.could_be.epsilon):
        assert quadrature.delta_at(losses, epsilon, 80) <= DELTA
        assert quadrature.delta_at(losses, epsilon * (1 - FAILURES), 80) > DELTA


def test_what_remains_is_printed_as_the_analytic_curve_of_what_fits(world: World) -> None:
    tiers = budgets.show(world.server, OPERATOR, "sites").tiers
    for tier in tiers:
        account = account_of(tier.granted.epsilon, DELTA)
        mu = math.sqrt(2 * account.limit / account.order)
        assert tier.remaining.epsilon == pytest.approx(gaussian(mu), rel=1e-6)
        assert 0.8 < tier.remaining.epsilon / tier.granted.epsilon < 1
