"""Provide analysts who register queries under one allowance at once, each in their own process."""

import json
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from sqlalchemy.exc import IntegrityError
from tests.faults.stage import analyst, open_home, opened, settings_of

from penstock.errors import PenstockError
from penstock.services.access.principals import OPERATOR, Principal, acting_as
from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets
from penstock.services.operations import home as homes
from penstock.services.people import tier_changes, users
from penstock.services.queries import registration
from penstock.services.queries.charging import own_queries
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest

Register = Callable[[Server, Principal, ComputedQueryRequest, Barrier], object]

TIERS = ("public", "partner", "internal")
EPSILON = 0.25
"""What every query costs the analysts' tier."""
ROWS = "person,visits\n" + "".join(f"p{number},{number % 40}\n" for number in range(200))
STAYS: dict[str, Any] = {
    "name": "stays",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "visits": {"type": "integer", "lower": 0, "upper": 40},
    },
    "budgets": {tier: {"epsilon": 8.0} for tier in TIERS},
}


def build(place: Path, count: int, allowance: float) -> None:
    """Build a home with three tiers, analysts at the middle one, and an allowance for them."""
    homes.create(settings_of(place))
    file = place / "data" / "stays.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(ROWS)
    with opened(place) as server:
        for tier in TIERS:
            tier_changes.create(server, OPERATOR, TierSpec(name=tier))
        for number in range(count):
            person = UserSpec(name=analyst(number), roles=["analyst"], clearance="partner")
            users.create(server, OPERATOR, person)
        source = {"engine": "duckdb", "uri": str(file)}
        request = DatasetRequest.model_validate({**STAYS, "source": source})
        datasets.register(server, OPERATOR, request)
        spec = AllowanceSpec(epsilon=allowance)
        allowances.give(server, OPERATOR, "stays", "partner", spec)


def wish(number: int, statistic: int) -> ComputedQueryRequest:
    """Return an analyst's request for one of the statistics, under a name of their own."""
    return ComputedQueryRequest.model_validate(
        {
            "name": f"least {statistic} of {number}",
            "dataset": "stays",
            "where": [{"column": "visits", "op": ">=", "value": statistic}],
            "aggregate": {"type": "count_units"},
            "contribution": {"max_groups": 1},
            "mechanism": "gaussian",
            "levels": {"partner": {"epsilon": EPSILON}},
        }
    )


def guarded(
    server: Server, principal: Principal, request: ComputedQueryRequest, _: Barrier
) -> None:
    """Register as the product does."""
    registration.register(server, principal, request)


def reading_before(
    server: Server, principal: Principal, request: ComputedQueryRequest, barrier: Barrier
) -> None:
    """Register by a broken variant: what is left is read before the lock is taken, by everybody."""
    seen = own_queries.permitted(server, principal, request)

    def all_have_read(*_: object) -> object:
        barrier.wait()
        return seen

    vars(registration)["permitted"] = all_have_read
    vars(own_queries)["require_same"] = lambda *arguments: arguments[-1]
    registration.register(server, principal, request)


def compete(
    home: Path, number: int, order: list[int], register: Register, barrier: Barrier, told: Path
) -> None:
    """Request statistics in an order, and write down what each request led to."""
    server = open_home(home)
    principal = acting_as(server, analyst(number))
    heard: list[tuple[int, str, dict[str, Any]]] = []
    barrier.wait()
    for statistic in order:
        try:
            register(server, principal, wish(number, statistic), barrier)
        except IntegrityError:
            heard.append((statistic, "refused by a constraint", {}))
        except PenstockError as problem:
            heard.append((statistic, problem.code, dict(problem.data)))
        else:
            heard.append((statistic, "done", {}))
    told.write_text(json.dumps(heard))
