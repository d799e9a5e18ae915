"""Measure whether answers cost more where many levels are stored already.

The goal is for processor time: waiting for the disk is most of a first release's
duration, does not depend on levels, and on a machine that others use can be several
times as long in one half of the rounds as in the other.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.benchmarks.database.world import World, check_values, fresh_world, levels_between
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import median, ratio, timed

from penstock.services.access.principals import Principal

GOAL = Goal(1.1, at_most=True)
"""The same, but for a tenth that caches shared with others may take."""


@dataclass(frozen=True)
class Setting:
    """Hold how large the vectors are, how many levels are few and many, and how often."""

    values: int = 256
    few: int = 3
    many: int = 300
    rounds: int = 60


@dataclass
class Times:
    """Hold seconds of duration, and of processor time, of one kind of answer."""

    lasted: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)


@dataclass
class Query:
    """Hold times of first releases, first hand-outs of what is stored, and repeats.

    All are of one kind of query.
    """

    drawn: Times = field(default_factory=Times)
    handed: Times = field(default_factory=Times)
    repeated: Times = field(default_factory=Times)


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Draw in every round a level more of the query with many, and of a fresh one with few."""
    few, many = Query(), Query()
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
            for name, query in both if number % 2 else reversed(both):
                _round(world, readers, name, level, query, setting.values)
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
    name: str,
    level: float,
    query: Query,
    size: int,
) -> None:
    """Draw, hand the same to somebody else, and give it to them again."""
    views = []
    for reader, times, first in (
        (readers[0], query.drawn, True),
        (readers[1], query.handed, True),
        (readers[1], query.repeated, False),
    ):
        before = time.process_time()
        answer, lasted = timed(partial(world.ask, reader, name, level=level))
        times.worked.append(time.process_time() - before)
        times.lasted.append(lasted)
        assert answer.first is first
        views.append(answer.view)
    check_values(views[0].values, size, views[0].level.value)
    for view in views[1:]:
        assert view.id == views[0].id
        assert (view.values == views[0].values).all(), "readers were given different values"


def _figures(name: str, few: Times, many: Times, setting: Setting) -> list[Figure]:
    compared = f"{name}, {setting.many} over {setting.few}"
    return [
        median(f"{name}, {setting.few} stored", few.lasted, "ms", 1e3),
        median(f"{name}, {setting.many} stored", many.lasted, "ms", 1e3),
        ratio(f"{compared}: duration", many.lasted, few.lasted),
        ratio(f"{compared}: processor time", many.worked, few.worked, GOAL),
    ]
