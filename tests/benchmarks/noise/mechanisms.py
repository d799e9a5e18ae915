"""Measure noise processes at a million values, against numpy's samplers and OpenDP's mechanisms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.noise import peers
from tests.benchmarks.pairing import Task, in_turns, median, ratio

from penstock.mechanisms import Gaussian, IntVector, Laplace, Mechanism, Poisson, Skellam
from penstock.randomness import Stream

AGAINST_NUMPY = Goal(0.25)
AGAINST_OPENDP = {"gaussian": Goal(100), "laplace": Goal(25)}
CEILINGS: dict[type[Mechanism], int] = {
    Gaussian: 100,
    Laplace: 10,
    Poisson: 100,
    Skellam: 100,
}
"""The most accurate level each; the standard deviation is about 10."""

BESIDE = (
    ("poisson bridge", "gaussian bridge"),
    ("poisson bridge", "numpy binomial"),
    ("poisson increment", "numpy poisson"),
    ("skellam bridge", "gaussian bridge"),
    ("skellam increment", "numpy poisson"),
)
"""Integer draws and what their rates are printed beside; numpy's are of the same laws."""

THREADS = 2

BOUND = Fraction(10**6)


@dataclass(frozen=True)
class Setting:
    """Hold how many values, and how often; OpenDP's rate does not depend on the size."""

    values: int = 1_000_000
    opendp_values: int = 20_000
    rounds: int = 21


class Course:
    """Hold a bridge and an increment of one mechanism, at multiples of its ceiling.

    The increment leads from the ceiling to four times its level, the bridge back to twice.
    """

    def __init__(self, kind: type[Mechanism], size: int) -> None:
        ceiling = Fraction(CEILINGS[kind])
        self.mechanism, ladder = kind.plan(ceiling, Fraction(1), BOUND)
        self.accurate, self.level, self.noisy = (
            ladder.value(ladder.rung_at_or_above(ceiling * factor)) for factor in (1, 2, 4)
        )
        self.size = size
        self.difference = self.increment()

    def increment(self) -> IntVector:
        return self.mechanism.increment(self.accurate, self.noisy, self.size, Stream.fresh())

    def bridge(self, threads: int = 1) -> IntVector:
        stream = Stream.fresh(threads=threads)
        return self.mechanism.bridge(self.accurate, self.noisy, self.difference, self.level, stream)

    def bridge_on_threads(self) -> IntVector:
        return self.bridge(THREADS)

    @property
    def scale(self) -> float:
        """Return the middle level in lattice steps, as OpenDP takes it."""
        level = float(self.level)
        return (level**0.5 if self.mechanism.name == "gaussian" else level) / float(
            self.mechanism.granularity
        )

    def check(self) -> None:
        """Raise ``AssertionError`` where what is timed is not noise of the right size."""
        low, high = (
            self.mechanism.error(level, 0.95).standard_deviation
            for level in (self.accurate, self.level)
        )
        expected = math.sqrt(high**2 - low**2)
        drawn = float(self.bridge()[: self.size].std()) * float(self.mechanism.granularity)
        assert 0.8 < drawn / expected < 1.25, f"a deviation of {drawn}, not {expected}"


def measure(setting: Setting = Setting(), say: Print = print) -> Sequence[Figure]:
    """Measure rates of all processes, and the ratios that are the goals."""
    courses = [Course(kind, setting.values) for kind in CEILINGS]
    tasks: dict[str, Task] = {}
    for course in courses:
        course.check()
        tasks[f"{course.mechanism.name} bridge"] = course.bridge
        tasks[_on_threads(course)] = course.bridge_on_threads
        tasks[f"{course.mechanism.name} increment"] = course.increment
    sizes = dict.fromkeys(tasks, setting.values)
    for name, peer in {
        "numpy normal": peers.numpy_normal(),
        "numpy binomial": peers.numpy_binomial(300, 1 / 3),
        "numpy poisson": peers.numpy_poisson(300),
    }.items():
        tasks[name], sizes[name] = _task(peer, setting.values), setting.values
    for course in courses[:2]:
        name = course.mechanism.name
        opendp = peers.opendp(name, course.scale)
        if opendp is None:
            say("OpenDP is not installed, so it is left out: pip install 'penstock[benchmarks]'")
            break
        tasks[f"OpenDP {name}"] = _task(opendp, setting.opendp_values)
        sizes[f"OpenDP {name}"] = setting.opendp_values
    taken = in_turns(setting.rounds, tasks)
    cost = {name: [one / sizes[name] for one in times] for name, times in taken.items()}
    return [*_rates(cost), *_ratios(cost), *(_gain(cost, course) for course in courses)]


def _on_threads(course: Course) -> str:
    return f"{course.mechanism.name} bridge, {THREADS} threads"


def _gain(cost: dict[str, list[float]], course: Course) -> Figure:
    many, alone = _on_threads(course), f"{course.mechanism.name} bridge"
    return ratio(f"{many} over one", cost[alone], cost[many])


def _task(peer: peers.Peer, size: int) -> Task:
    return lambda: peer(size)


def _rates(cost: dict[str, list[float]]) -> list[Figure]:
    return [
        median(name, [1e-6 / one for one in times], "million values/s")
        for name, times in cost.items()
    ]


def _ratios(cost: dict[str, list[float]]) -> list[Figure]:
    found = [
        ratio(
            "gaussian bridge over numpy normal",
            cost["numpy normal"],
            cost["gaussian bridge"],
            AGAINST_NUMPY,
        )
    ]
    found += [ratio(f"{name} over {other}", cost[other], cost[name]) for name, other in BESIDE]
    for name, goal in AGAINST_OPENDP.items():
        if f"OpenDP {name}" in cost:
            found.append(
                ratio(
                    f"{name} bridge over OpenDP {name}",
                    cost[f"OpenDP {name}"],
                    cost[f"{name} bridge"],
                    goal,
                )
            )
    return found
