"""Test that budgets, sight and exposure hold, whatever analysts ask and admins give and move."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import run_state_machine_as_test
from tests.databases.homes import SQLITE
from tests.property.allowances.machine import MoveMachines
from tests.support.thorough import by_count


@pytest.fixture(autouse=True)
def _same_examples_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Try the same examples whatever else the process has imported (see ``tiers/test_rules``)."""
    monkeypatch.setattr(providers, "_get_local_constants", Constants)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()


@pytest.mark.only(SQLITE)
def test_nothing_gives_way_whatever_is_asked_given_and_moved(moves: MoveMachines) -> None:
    run_state_machine_as_test(
        cast("Any", moves),  # anything that makes a machine will do
        settings=settings(
            max_examples=by_count(5, 40),
            stateful_step_count=by_count(25, 50),
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    done = {act for act, outcome in moves.tried if outcome == "done"}
    assert done >= {"ask", "give", "clear", "insert_tier", "release", "register"}
