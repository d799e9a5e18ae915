"""Test that nobody learns what was not paid for, whatever admins and analysts do in any order."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.stateful import run_state_machine_as_test
from tests.databases.homes import SQLITE
from tests.property.machines import Machines
from tests.property.tiers.machine import ACTS, IndependentRules
from tests.support.thorough import by_count


@pytest.fixture(autouse=True)
def _same_examples_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Try the same examples whatever else the process has imported.

    Hypothesis takes numbers from the modules that it finds, also where it is derandomized;
    with them, what few examples reach would differ from process to process.
    """
    monkeypatch.setattr(providers, "_get_local_constants", Constants)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()


def tried(machines: Machines, examples: int, steps: int) -> None:
    """Try everything with many machines."""
    run_state_machine_as_test(
        cast("Any", machines),  # anything that makes a machine will do
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.only(SQLITE)
def test_independent_levels_are_all_paid_for_by_whoever_may_see_them(machines: Machines) -> None:
    machines.kind = IndependentRules
    tried(machines, by_count(4, 6), 30)
    done = {act for kind, act in machines.tried if kind == "done"}
    assert done >= ACTS - {"retire", "delete_tier"}
    assert machines.tried["refused", "INVALID_INPUT"]  # levels that were never drawn


def test_nobody_learns_what_the_highest_tier_ever_held_has_not_paid_for(
    machines: Machines, backend: str
) -> None:
    tried(machines, by_count(8, 30) if backend == SQLITE else 8, 50)
    if backend == SQLITE:
        assert {act for kind, act in machines.tried if kind == "done"} >= ACTS
        assert machines.tried["refused", "BUDGET_EXHAUSTED"]
