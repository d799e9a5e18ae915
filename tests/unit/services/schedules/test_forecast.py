"""Test what is shown before a schedule is switched on: it is what is charged afterwards."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.services.schedules.planning import (
    file_of,
    runner,
    shown,
    spec_of,
    switched_on,
    with_stays,
)
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.schedules import forecast as forecasts
from penstock.services.schedules import occurrences
from penstock.services.schedules.forecast import forecast


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    return with_stays(world, tmp_path)


def test_what_is_shown_is_what_is_charged(planned: World, tmp_path: Path) -> None:
    """The shares are those of the accounts, and the schedule ends when it was said to end."""
    until = planned.clock() + timedelta(days=10)
    view = forecast(planned.server, OPERATOR, spec_of(tmp_path), until)
    assert (view.occurrences, view.refusal) == (10, None)
    shares = {tier.tier: tier.share for tier in view.tiers}
    ends = {tier.tier: tier.ends_at for tier in view.tiers if tier.total is not None}
    assert [tier.by_then for tier in view.tiers if tier.tier == "public"] == [3.0]
    switched_on(planned, tmp_path)
    for day in range(1, 5):
        file_of(tmp_path, day)
        planned.clock.forward(hours=3 if day == 1 else 24)
        occurrences.look(planned.server, runner(planned))
        if day == 1:
            account = budgets.show(planned.server, OPERATOR, "stays")
            spent = {tier.tier: tier.spent_share for tier in account.tiers}
            assert spent == pytest.approx(shares, rel=1e-9)
    last = shown(planned)
    assert [each.state for each in last.occurrences] == ["refused", "done", "done", "done"]
    assert set(ends.values()) == {last.occurrences[0].due_at}


def test_versions_from_before_count_when_it_is_switched_on_again(
    planned: World, tmp_path: Path
) -> None:
    switched_on(planned, tmp_path)
    file_of(tmp_path, 1)
    planned.clock.forward(hours=3)
    occurrences.look(planned.server, runner(planned))
    until = planned.clock() + timedelta(days=10)
    again = forecast(planned.server, OPERATOR, spec_of(tmp_path), until)
    assert (again.opened, again.occurrences, again.allowed) == (1, 10, 2)
    (public,) = [tier for tier in again.tiers if tier.tier == "public"]
    assert (public.by_then, public.ends_at) == (3.0, again.first[2])
    other = forecast(planned.server, OPERATOR, spec_of(tmp_path, name="other"), until)
    assert (other.opened, other.allowed) == (0, 3)


def test_a_schedule_that_would_fail_says_so(planned: World, tmp_path: Path) -> None:
    (query,) = spec_of(tmp_path).queries
    costly = spec_of(tmp_path, queries=[{**query, "name": f"{n}-{{date}}"} for n in range(5)])
    until = planned.clock() + timedelta(days=10)
    refusal = forecast(planned.server, OPERATOR, costly, until).refusal
    assert "does not suffice" in (refusal or "")


def test_a_date_that_is_too_far_away_is_refused(
    planned: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasts, "MOST", 1000)
    until = planned.clock() + timedelta(days=1)
    with pytest.raises(InvalidInput, match="an earlier date"):
        forecast(planned.server, OPERATOR, spec_of(tmp_path, cron="* * * * *"), until)
