"""Test numbers, times and losses as pages write them."""

from datetime import datetime, timedelta, timezone

import pytest

from penstock.services.schemas.views import PrivacyBudget
from penstock.web.presenters.template_filters import figure, loss, machine, moment, whole


@pytest.mark.parametrize(
    ("budget", "written"),
    [
        (PrivacyBudget(0.5, 1e-6), "epsilon 0.5 at delta 1e-6"),
        (PrivacyBudget(2.0, 0.0), "epsilon 2"),
    ],
)
def test_a_loss_is_said_with_the_delta_that_it_is_at(budget: PrivacyBudget, written: str) -> None:
    assert loss(budget) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0.0, "0"), (1234.5, "1,234"), (1e-7, "1e-7"), (0.12345, "0.123")]
)
def test_a_figure_is_short_and_its_exponent_not_padded(value: float, written: str) -> None:
    assert figure(value) == written


def test_counts_and_times_are_written_for_people_and_for_programs() -> None:
    at = datetime(2026, 1, 2, 23, 30, 59, tzinfo=timezone(timedelta(hours=-2)))
    assert whole(1234567.0) == "1,234,567"
    assert moment(at) == "2026-01-03 01:30 UTC"
    assert machine(at) == "2026-01-03T01:30:59+00:00"
