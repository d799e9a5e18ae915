"""Test charges for draws by rejection: which ways are valid, and how they grow."""

import math

import pytest

from penstock.mechanisms.rejection_charges import HIGHEST_ORDER, charged_loss, rejection_charges
from penstock.randomness.rejection import RELATIVE_ERROR, TAIL_ERROR


@pytest.mark.parametrize(
    ("order", "ways"), [(1.0, 1), (1.01, 2), (511.9, 2), (512.0, 1), (4096.0, 1)]
)
def test_the_second_way_is_offered_at_orders_above_1_and_below_512_alone(
    order: float, ways: int
) -> None:
    assert len(rejection_charges(1, order, 1.0)) == ways


def test_the_first_way_takes_nothing_but_failure() -> None:
    first = rejection_charges(100, 11.0, 0.5)[0]
    stated = (1 + math.exp(0.5)) * (10 * RELATIVE_ERROR / 2 + 100 * 2 * TAIL_ERROR)
    assert first.factor == 1.0
    assert first.failure == pytest.approx(stated, rel=1e-12)


def test_the_second_way_pays_for_tails_by_failure_and_for_the_rest_by_a_factor() -> None:
    few, many = rejection_charges(10, 11.0, 0.5)[1], rejection_charges(1_000, 11.0, 0.5)[1]
    assert few.factor == many.factor == 1 + 2.5 * 121 / (10 * (1024 - 22))
    assert many.failure == pytest.approx(100 * few.failure, rel=1e-12)


def test_an_epsilon_that_no_float_can_raise_leaves_the_first_way_infinite() -> None:
    assert rejection_charges(1, 11.0, 700.0)[0].failure == math.inf


def test_a_divergence_in_proportion_to_the_order_is_charged_as_it_is() -> None:
    assert charged_loss(lambda order: order / 8, 11.0) == 11.0 / 8


def test_a_divergence_that_grows_much_faster_than_the_order_is_charged_more() -> None:
    def steep(order: float) -> float:
        return math.exp(order / 8)

    assert charged_loss(steep, 101.0) > steep(101.0)
    assert charged_loss(steep, HIGHEST_ORDER / 2) == steep(HIGHEST_ORDER / 2)
