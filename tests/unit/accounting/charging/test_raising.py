"""Test raising a level: what a reader who chooses by the old release can bring the loss to."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import poisson

from penstock.accounting import Account, Entry, account_of, charge, entry, raising, refinement_loss
from penstock.accounting.charging.raising import _refinements, apart_loss
from penstock.mechanisms import Gaussian, Laplace, Mechanism, Poisson, Skellam
from penstock.mechanisms.laplace.process import DiscreteLaplace
from penstock.privacy import Sensitivity

Vector = NDArray[np.float64]
ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


def log_moment(probabilities: Vector, losses: Vector, order: float) -> float:
    return math.log(float(np.sum(probabilities * np.exp((order - 1) * losses)))) / (order - 1)


@dataclass(frozen=True)
class Raised:
    """Represent discrete Laplace noise against its shift by ``steps``.

    The level is raised from ``old`` to ``new``.
    """

    old: float
    new: float
    steps: int
    order: float

    def laws(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """Return the old law and its losses, the new law and its losses, and old given new."""
        reach = int(45 * self.steps / min(self.old, 1))
        outcomes = np.arange(-reach, reach + self.steps + 1)
        p, q = math.exp(-self.new / self.steps), math.exp(-self.old / self.steps)

        def law(decay: float, at: NDArray[np.int64]) -> Vector:
            return np.asarray((1 - decay) / (1 + decay) * decay ** np.abs(at), dtype=np.float64)

        kept = p / q * ((1 - q) / (1 - p)) ** 2
        moved = outcomes[:, None] - outcomes[None, :]
        given = (1 - kept) * law(q, moved) + kept * (moved == 0)
        losses = [
            (np.abs(outcomes - self.steps) - np.abs(outcomes)) * -math.log(decay)
            for decay in (q, p)
        ]
        return law(q, outcomes), losses[0], law(p, outcomes), losses[1], given

    def figures(self) -> tuple[float, float]:
        """Return the losses of the old and of the new release alone."""
        old, old_losses, new, new_losses, _ = self.laws()
        return log_moment(old, old_losses, self.order), log_moment(new, new_losses, self.order)

    def conditional(self) -> Vector:
        """Return the loss of the refinement given each old release, in the order of outcomes."""
        old, old_losses, new, new_losses, given = self.laws()
        moments = (given * (new * np.exp((self.order - 1) * new_losses))[None, :]).sum(axis=1)
        return np.asarray(np.log(moments / old) / (self.order - 1) - old_losses)

    def reached(self, charged: float, budget: float) -> float:
        """Return the loss of whoever, having seen the old release, raises it or spends otherwise.

        ``charged`` is the whole charge of a query that was raised; what the budget has left
        beside it, or beside the old release alone, goes to another query.
        """
        old, old_losses, *_ = self.laws()
        alone, _ = self.figures()
        scale = self.order - 1
        stay = old_losses + budget - alone
        raised = old_losses + self.conditional() + budget - charged
        return math.log(float(np.sum(old * np.exp(scale * np.maximum(stay, raised))))) / scale


KNOWN = Raised(old=1, new=2, steps=8, order=3)


def test_the_plain_difference_undercharges_a_raised_laplace_query() -> None:
    _, plain = KNOWN.figures()
    assert plain == pytest.approx(1.755, abs=5e-4)
    assert KNOWN.reached(plain, plain) == pytest.approx(1.833, abs=5e-4)


def test_no_choice_after_a_raise_takes_a_laplace_query_beyond_its_charge() -> None:
    """What is charged in all, first for the old level and then for the raise."""
    account = account_of(10.0, 1e-6, order=KNOWN.order)
    one = Sensitivity(Fraction(KNOWN.steps), Fraction(KNOWN.steps**2), Fraction(KNOWN.steps))
    planned, ladder = DiscreteLaplace.plan(Fraction(4), Fraction(1), Fraction(1000))
    old, new = Fraction(8), Fraction(4)
    assert planned.guarantee(old, one, 0).epsilon == KNOWN.old
    assert planned.guarantee(new, one, 0).epsilon == KNOWN.new
    before = entry(charge(planned, ladder, old, one, account, 1, 2))
    added = raising(
        planned,
        ladder,
        charged=before,
        old=old,
        new=new,
        sensitivity=one,
        account=account,
        dimension=1,
        level_count=2,
    )
    whole = float((before + added).cost.loss)
    assert KNOWN.reached(whole, whole) <= whole


def test_the_new_epsilon_as_the_whole_charge_undercharges_as_well() -> None:
    assert KNOWN.reached(2.0, 2.0) == pytest.approx(2.042, abs=5e-4)


CASES = [
    KNOWN,
    Raised(1, 2, 1, 3),
    Raised(0.1, 0.2, 1, 29),
    Raised(0.1, 0.2, 4, 57),
    Raised(0.5, 2, 2, 11),
    Raised(0.25, 0.5, 2, 1.5),
    Raised(0.5, 0.6, 1, 8),
]


def test_the_refinement_of_a_coordinate_is_within_its_range_and_nearly_reaches_it() -> None:
    case = Raised(0.05, 0.2, 1, 3)
    exact = float(case.conditional().max())
    assert exact <= apart_loss(Fraction(5), ONE, 3) <= 1.03 * exact


def test_raising_a_long_laplace_vector_is_charged_coordinate_by_coordinate() -> None:
    """Given the old release its coordinates are independent, so that their losses add up."""
    count = 50
    moved = Sensitivity(Fraction(count), Fraction(count), Fraction(1))
    account = account_of(10.0, 1e-6, order=3)
    planned, ladder = DiscreteLaplace.plan(Fraction(5), Fraction(1), Fraction(1000))
    old, new = Fraction(20), Fraction(5)
    before = entry(charge(planned, ladder, old, moved, account, count, 2))
    added = raising(
        planned,
        ladder,
        charged=before,
        old=old,
        new=new,
        sensitivity=moved,
        account=account,
        dimension=count,
        level_count=2,
    ).cost.loss
    exact = count * float(Raised(0.05, 0.2, 1, 3).conditional().max())
    assert exact <= added <= 1.03 * exact
    assert added < 0.3 * refinement_loss(count / 20, count / 5, 3)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_charge_covers_the_refinement_whatever_was_seen(case: Raised) -> None:
    alone, _ = case.figures()
    bound = refinement_loss(case.old, case.new, case.order)
    assert case.conditional().max() <= bound + 1e-9
    for budget in (alone + bound, 1.5 * (alone + bound)):
        assert case.reached(alone + bound, budget) <= budget + 1e-9


@pytest.mark.parametrize("case", [Raised(1, 2, 1, 3), Raised(0.5, 2, 1, 11)])
def test_the_charge_is_no_more_than_that_where_one_step_is_the_shift(case: Raised) -> None:
    bound = refinement_loss(case.old, case.new, case.order)
    assert case.conditional().max() == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("order", [1.01, 2, 57, 1024])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1, 40, 1e6])
def test_every_charge_is_finite_and_between_the_difference_and_the_sum(
    epsilon: float, order: float
) -> None:
    for old in (epsilon, epsilon / 2):
        loss = refinement_loss(old, epsilon, order)
        assert 0 <= loss <= old + epsilon
    assert refinement_loss(0.0, 0.0, order) == 0
    assert refinement_loss(math.inf, math.inf, order) == math.inf


ACCOUNT = account_of(4.0, 1e-6)


def change(mechanism: type[Mechanism], old: int, new: int, account: Account) -> tuple[Entry, Entry]:
    planned, ladder = mechanism.plan(Fraction(new), Fraction(1), Fraction(1000))
    before = entry(charge(planned, ladder, Fraction(old), ONE, account, 3, 16))
    added = raising(
        planned,
        ladder,
        charged=before,
        old=Fraction(old),
        new=Fraction(new),
        sensitivity=ONE,
        account=account,
        dimension=3,
        level_count=16,
    )
    return before, added


def test_a_raised_gaussian_query_costs_what_the_new_level_alone_would() -> None:
    planned, ladder = Gaussian.plan(Fraction(100), Fraction(1), Fraction(1000))
    alone = entry(charge(planned, ladder, Fraction(100), ONE, ACCOUNT, 3, 16))
    before, added = change(Gaussian, 400, 100, ACCOUNT)
    assert before + added == Entry(alone.loss, max(alone.failure, before.failure))


@pytest.mark.parametrize(("mechanism", "old", "new"), [(Laplace, 40, 20), (Poisson, 4000, 2000)])
def test_raising_anything_else_costs_more_than_the_difference(
    mechanism: type[Mechanism], old: int, new: int
) -> None:
    planned, ladder = mechanism.plan(Fraction(new), Fraction(1), Fraction(1000))
    alone = entry(charge(planned, ladder, Fraction(new), ONE, ACCOUNT, 3, 16))
    before, added = change(mechanism, old, new, ACCOUNT)
    assert (before + added).loss > alone.loss
    assert added.failure > 0


def test_a_raised_poisson_query_costs_hardly_more_than_the_difference() -> None:
    planned, ladder = Poisson.plan(Fraction(2000), Fraction(1), Fraction(1000))
    alone = entry(charge(planned, ladder, Fraction(2000), ONE, ACCOUNT, 3, 16))
    before, added = change(Poisson, 4000, 2000, ACCOUNT)
    # Fewer trials than usual are what is charged for.
    assert alone.loss - before.loss < added.loss < 1.3 * (alone.loss - before.loss)


@pytest.mark.parametrize("mechanism", [Poisson(Fraction(1)), Skellam(Fraction(1))])
def test_an_exact_refinement_is_charged_for_what_its_bounds_leave_out(
    mechanism: Poisson | Skellam,
) -> None:
    account = account_of(1.0, 1e-6)
    found = _refinements(mechanism, Fraction(2000), Fraction(1000), ONE, account)
    costs = [cost for cost, _ in found]
    for bounded, exact in zip(costs[::2], costs[1::2], strict=True):
        assert exact.failure >= bounded.failure > 0


def test_a_refinement_is_charged_where_it_leaves_its_support() -> None:
    """Less noise than the shift is long is there with the probability of that."""
    shift = Sensitivity(Fraction(4), Fraction(16), Fraction(4))
    found = Poisson(Fraction(1)).refinement(Fraction(60), Fraction(20), shift, 3.0, 1e-9)
    assert found.failure >= 1e-9 + poisson.cdf(3, 20)
