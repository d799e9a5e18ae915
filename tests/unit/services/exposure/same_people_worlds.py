"""Provide datasets that may hold the same people, and what is shown of them."""

from collections.abc import Callable
from pathlib import Path

from tests.unit.services.datasets.stays import ROWS, query, register
from tests.unit.services.versions import new_file
from tests.unit.worlds import World, fill

from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import same_people
from penstock.services.pagination import Window
from penstock.services.schemas.datasets import DatasetBudgetView
from penstock.services.schemas.views import (
    DatasetView,
)
from penstock.services.verification.verification import verify


def declare(world: World, name: str = "again", other: str = "stays") -> DatasetView:
    return same_people.declare(world.server, OPERATOR, name, other)


def shown(world: World, name: str = "stays") -> DatasetBudgetView:
    return budgets.show(world.server, OPERATOR, name)


def third(world: World, folder: Path, **more: object) -> DatasetView:
    return register(world, new_file(folder, 9), name="third", **more)


def problems(world: World) -> list[str]:
    return list(verify(world.server, OPERATOR).problems)


def groups(world: World) -> list[list[str]]:
    listed = datasets.listing(world.server, OPERATOR, Window(100)).items
    found = {frozenset((one.name, *one.same_people_as)) for one in listed}
    return sorted(sorted(one) for one in found if len(one) > 1)


def same_table_twice(keep: Callable[[str, str], Path]) -> Callable[[World], None]:
    """Return what fills a world with one table twice, each with a whole budget and a query.

    The second file has a newline more.
    """

    def filled(world: World) -> None:
        fill(world)
        register(world, keep("people.csv", ROWS))
        register(world, keep("people_again.csv", ROWS + "\n"), name="again")
        query(world)
        query(world, name="by_town_again", dataset="again")

    return filled
