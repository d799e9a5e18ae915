"""Provide a schedule of stays: every night a file, and a count by town on it."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.jobs.runner import Runner
from penstock.services.schedules import schedules
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.schedules import ScheduleSpec, ScheduleView

BUDGETS = STAYS["budgets"]


def spec_of(folder: Path, **changes: Any) -> ScheduleSpec:
    query = {name: value for name, value in BY_TOWN.items() if name != "dataset"}
    spec = {
        "name": "nightly",
        "dataset": "stays",
        "cron": "0 3 * * *",
        "version": {
            "source": {"engine": "duckdb", "uri": str(folder / "stays-{date}.csv")},
            "budgets": BUDGETS,
        },
        "queries": [{**query, "name": "by_town-{date}"}],
        "total": {"public": 3.0, "internal": 24.0},
    }
    return ScheduleSpec.model_validate({**spec, **changes})


def with_stays(world: World, folder: Path) -> World:
    path = folder / "stays.csv"
    path.write_text(ROWS)
    request = {**STAYS, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(request))
    return world


def file_of(folder: Path, day: int) -> None:
    """Write the file of a day in January."""
    text = ROWS + f"q{day},north,1\n"
    (folder / f"stays-{date(2026, 1, day).isoformat()}.csv").write_text(text)


def switched_on(world: World, folder: Path, **changes: Any) -> ScheduleView:
    ada = world.person("ada")
    schedules.create(world.server, ada, spec_of(folder, **changes))
    return schedules.switch(world.server, ada, "nightly", on=True)


def shown(world: World) -> ScheduleView:
    return schedules.show(world.server, world.person("ada"), "nightly")


def runner(world: World) -> Runner:
    return Runner(world.server, patience=120, pulse=None, host="here")


def stopped_behind_the_version(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Begin an occurrence, and stop as a crash would as soon as its version is opened."""
    product = datasets.add_version

    def crash(*sent: Any, **more: Any) -> None:
        product(*sent, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(datasets, "add_version", crash)
        with pytest.raises(KeyboardInterrupt):
            act()
