"""Provide tasks that take turns: what slows a machine for a while slows all of them alike."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tests.benchmarks.figures import Figure, Goal

Task = Callable[[], object]
Result = TypeVar("Result")


def timed(task: Callable[[], Result]) -> tuple[Result, float]:
    """Return what ``task`` returned, and how many seconds it took."""
    begun = time.perf_counter()
    result = task()
    return result, time.perf_counter() - begun


def in_turns(rounds: int, tasks: Mapping[str, Task]) -> dict[str, list[float]]:
    """Return the seconds of each task in every round, after one round that does not count.

    The order is turned by one from round to round, so that no task always follows the
    same other one.
    """
    names = list(tasks)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        tasks[name]()
    gc.collect()
    for turn in range(rounds):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            taken[name].append(timed(tasks[name])[1])
    return taken


def ratio(
    name: str, above: Sequence[float], below: Sequence[float], goal: Goal | None = None
) -> Figure:
    """Return the ratio of two medians, with the quartiles of the ratio within a round."""
    value = statistics.median(above) / statistics.median(below)
    pairs = [one / other for one, other in zip(above, below, strict=True)]
    return Figure(name, value, "x", quartiles(pairs), goal)


def quartiles(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the first and the third; none of fewer than four values."""
    if len(values) < 4:
        return None
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def median(
    name: str, values: Sequence[float], unit: str, scale: float = 1.0, goal: Goal | None = None
) -> Figure:
    """Return the median of ``values`` times ``scale``, with their quartiles."""
    scaled = [value * scale for value in values]
    return Figure(name, statistics.median(scaled), unit, quartiles(scaled), goal)
