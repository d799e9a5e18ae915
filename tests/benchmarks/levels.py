"""Whether answers cost more where many levels are stored already."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import median, ratio, timed
from tests.benchmarks.world import World, check_values, fresh_world, levels_between

from penstock.services.principals import Principal

GOAL = Goal(1.15, at_most=True)
"""The same, but for what a machine that others use adds to medians."""


@dataclass(frozen=True)
class Setting:
    """How large the vectors are, how many levels are few and many, and how often."""

    values: int = 256
    few: int = 3
    many: int = 300
    rounds: int = 60


@dataclass
class Times:
    """Seconds of first releases, of first hand-outs of stored ones, and of repeats."""

    drawn: list[float]
    handed: list[float]
    repeated: list[float]


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Every round draws one level more of the query with many, and of a fresh one with few."""
    few, many = Times([], [], []), Times([], [], [])
    stored = levels_between(setting.many + setting.rounds)
    # Those that are drawn while the clock runs lie between those that are stored by then.
    fresh = stored[2 :: len(stored) // setting.rounds][: setting.rounds]
    stored = [level for level in stored if level not in fresh]
    with fresh_world() as world:
        readers = world.add_analyst("ana"), world.add_analyst("bea")
        world.add_query("many", setting.values)
        _fill(world, readers[0], "many", stored, setting.many)
        for number, level in enumerate(fresh):
            small = f"few-{number}"
            world.add_query(small, setting.values)
            _fill(world, readers[0], small, stored, setting.few)
            both = [(small, few), ("many", many)]
            for query, times in both if number % 2 else reversed(both):
                _round(world, readers, query, level, times, setting.values)
    return [
        *_figures("first release", few.drawn, many.drawn, setting),
        *_figures("first hand-out", few.handed, many.handed, setting),
        *_figures("repeat", few.repeated, many.repeated, setting),
    ]


def _fill(
    world: World, analyst: Principal, query: str, levels: Sequence[float], count: int
) -> None:
    """Release at the outermost and then further levels, until ``count`` are stored."""
    world.ask(analyst, query)
    world.ask(analyst, query, tier="public")
    for level in levels[: count - 2]:
        world.ask(analyst, query, level=level)


def _round(
    world: World,
    readers: tuple[Principal, Principal],
    query: str,
    level: float,
    times: Times,
    size: int,
) -> None:
    """Draw, hand the same to somebody else, and give it to them again."""
    views = []
    for reader, taken, first in (
        (readers[0], times.drawn, True),
        (readers[1], times.handed, True),
        (readers[1], times.repeated, False),
    ):
        answer, spent = timed(partial(world.ask, reader, query, level=level))
        taken.append(spent)
        assert answer.first is first
        views.append(answer.view)
    check_values(views[0].values, size, views[0].level.value)
    for view in views[1:]:
        assert view.id == views[0].id
        assert (view.values == views[0].values).all(), "readers were given different values"


def _figures(
    name: str, few: Sequence[float], many: Sequence[float], setting: Setting
) -> list[Figure]:
    return [
        median(f"{name}, {setting.few} stored", few, "ms", 1e3),
        median(f"{name}, {setting.many} stored", many, "ms", 1e3),
        ratio(f"{name}, {setting.many} over {setting.few}", many, few, GOAL),
    ]
