"""Whatever admins and analysts do, in any order: nobody learns what was not paid for."""

from typing import Any, cast

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.databases.homes import SQLITE
from tests.property.conftest import Machines

ACTS = {
    *("insert_tier", "move_tier", "delete_tier", "clear", "register", "change_levels"),
    *("scale_levels", "change_budgets", "retire", "everybody_asks"),
}


def test_nobody_learns_what_the_highest_tier_ever_held_has_not_paid_for(
    machines: Machines, backend: str
) -> None:
    run_state_machine_as_test(
        cast("Any", machines),  # anything that makes a machine will do
        settings=settings(
            max_examples=30 if backend == SQLITE else 8,
            stateful_step_count=50,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    if backend == SQLITE:
        assert {act for kind, act in machines.tried if kind == "done"} >= ACTS
        assert machines.tried["refused", "BUDGET_EXHAUSTED"]
