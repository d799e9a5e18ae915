import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import delta_at, epsilon_at, mu_at


def _exact_delta(epsilon: float, mu: float) -> mpf:
    """Return the hockey-stick divergence of two unit normals ``mu`` apart, at 60 digits."""
    with mp.workdps(60):
        e, m = mpf(epsilon), mpf(mu)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.3, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("deviations", [-3.0, 0.0, 1.0, 5.0, 9.0])
def test_the_curve_is_that_of_two_normals(mu: float, deviations: float) -> None:
    epsilon = max(0.0, mu * mu / 2 + deviations * mu)
    assert delta_at(epsilon, mu) == pytest.approx(float(_exact_delta(epsilon, mu)), rel=1e-9)


@pytest.mark.parametrize("mu", [0.5, 1.0])
def test_the_curve_integrates_the_densities_ratio(mu: float) -> None:
    with mp.workdps(30):
        integral = mp.quad(
            lambda x: max(mp.npdf(x, mu) - mp.e * mp.npdf(x), 0), [1 / mu + mu / 2, 12, 30]
        )
    assert delta_at(1.0, mu) == pytest.approx(float(integral), rel=1e-12)


@given(st.floats(min_value=1e-3, max_value=100), st.floats(min_value=1e-12, max_value=0.5))
def test_epsilon_is_the_least_that_keeps_delta(mu: float, delta: float) -> None:
    epsilon = epsilon_at(delta, mu)
    assert _exact_delta(epsilon, mu) <= delta
    if epsilon > 0:
        assert _exact_delta(epsilon * (1 - 1e-8), mu) > delta


@pytest.mark.parametrize("mu", [1e-3, 1e-4, 1e-6, 1e-9, 3e-13])
@pytest.mark.parametrize("delta", [1e-15, 1e-11, 1e-6, 1e-4])
def test_small_losses_are_rounded_up_although_two_tails_cancel(mu: float, delta: float) -> None:
    epsilon = epsilon_at(delta, mu)
    assert _exact_delta(epsilon, mu) <= delta
    if delta < mu / 4 and mu > 1e-10:
        assert epsilon > 0
        assert _exact_delta(epsilon * (1 - 1e-3), mu) > delta


def test_a_delta_that_no_noise_reaches_at_epsilon_0_costs_nothing() -> None:
    assert epsilon_at(1e-3, 1e-3) == 0.0


def test_epsilons_far_out_do_not_overflow() -> None:
    assert delta_at(5000.0, 10.0) == 0.0
    assert 0.0 <= delta_at(1e4, 100.0) <= 1.0
    assert epsilon_at(1e-9, 200.0) > 2e4


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.5, 2.0, float("nan")])
def test_deltas_outside_of_the_open_unit_interval_are_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta between 0 and 1"):
        epsilon_at(delta, 1.0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "deviation"),
    [(1, 1e-6, 4.224679), (0.1, 1e-6, 36.304690), (1, 1e-9, 5.495266)],
)
def test_the_inverse_has_its_known_values(epsilon: float, delta: float, deviation: float) -> None:
    assert 1 / mu_at(epsilon, delta) == pytest.approx(deviation, abs=6e-7)


@given(st.floats(min_value=1e-3, max_value=100), st.floats(min_value=1e-12, max_value=0.5))
def test_the_inverse_is_the_least_noise_that_keeps_both(epsilon: float, delta: float) -> None:
    mu = mu_at(epsilon, delta)
    assert _exact_delta(epsilon, mu) <= delta
    assert _exact_delta(epsilon, mu * (1 + 1e-6)) > delta


@pytest.mark.parametrize("epsilon", [-1e-9, float("inf"), float("nan")])
def test_an_epsilon_that_is_none_has_no_inverse(epsilon: float) -> None:
    with pytest.raises(InvalidInput, match="epsilon"):
        mu_at(epsilon, 1e-6)
