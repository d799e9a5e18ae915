"""Measure whether timing distinguishes hidden from missing things, and drawn from stored ones.

Each time a Kolmogorov-Smirnov distance: the largest difference between the two empirical
distribution functions (Smirnov 1948), 0 where the clock tells nothing, 1 where it tells
everything.  One client at a time waits for its answers, the two kinds of question taking turns
in an order that is mixed but fixed, so that whatever slows the machine slows both.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.database.world import World, fresh_world, levels_between
from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import median
from tests.benchmarks.served.readers import Ask, Heard, Readers, readers
from tests.benchmarks.served.serving import served

CONFIDENCE = math.sqrt(-math.log(0.01 / 2) / 2)
"""Two samples of one law are further apart, times ``sqrt(n m / (n + m))``, in 1 of 100 runs."""

NAMES = {"missing": "absent", "forbidden": "secret"}
"""What queries of each kind are called, in equally many letters."""


@dataclass(frozen=True)
class Setting:
    """Hold how many refusals and first grants are asked for; ``levels`` a query.

    Half are of each kind.
    """

    refusals: int = 10_000
    grants: int = 2_000
    levels: int = 40
    names: int = 20
    values: int = 256
    quanta: tuple[float, ...] = (0.0, 0.025)
    workers: int = 2
    seconds: float = 1200.0


Marked = list[tuple[str, Ask]]
"""Questions, each with the kind that it is of."""


def measure(setting: Setting = Setting(), say: Print = print) -> Sequence[Figure]:
    """Return both comparisons at each time quantum, each in a home of its own."""
    found = []
    for quantum in setting.quanta:
        with fresh_world() as world:
            refusals, grants, stored, tokens = _prepared(world, setting)
            with (
                served(world.home, setting.workers, quantum) as port,
                readers(port, tokens) as clients,
            ):
                clients.ask([[refusals[0][1]] * 20, [_values(one) for one in stored][:20]], 60.0)
                refused = _heard(clients, 0, refusals, setting.seconds)
                granted = _heard(clients, 1, grants, setting.seconds)
        _check_refusals(refused)
        _check_grants(granted, stored)
        run = f"quantum {quantum * 1e3:g} ms"
        found += _compared(run, refused, ("missing", "forbidden"), goal=quantum > 0)
        found += _compared(run, granted, ("drawn", "found"), goal=quantum > 0)
    say(f"{setting.refusals} refusals and {setting.grants} first grants at each quantum.")
    return found


def _prepared(world: World, setting: Setting) -> tuple[Marked, Marked, set[str], list[str]]:
    """Return what is asked for, the names of the releases that others hold, and the two tokens."""
    world.add_analyst("outsider", "public")
    world.add_analyst("reader")
    other = world.add_analyst("other")
    for number in range(setting.names):
        world.add_query(f"{NAMES['forbidden']}-{number:03}", setting.values, ["internal"])
    refusals = [
        (kind, Ask("GET", f"/api/v1/queries/{name}-{number % setting.names:03}"))
        for kind, name in NAMES.items()
        for number in range(setting.refusals // 2)
    ]
    grants, stored = [], set()
    for number in range(-(-setting.grants // setting.levels)):
        name = f"query-{number}"
        world.add_query(name, setting.values)
        for place, level in enumerate(levels_between(setting.levels)):
            kind = ("drawn", "found")[place % 2]
            if kind == "found":
                stored.add(world.ask(other, name, level=level).view.id)
            body = json.dumps({"level": level})
            grants.append((kind, Ask("POST", f"/api/v1/queries/{name}/releases", body)))
    tokens = [world.token(name) for name in ("outsider", "reader")]
    return _mixed(refusals), _mixed(grants[: setting.grants]), stored, tokens


def _mixed(marked: Marked) -> Marked:
    numbered = list(enumerate(marked))
    numbered.sort(key=lambda pair: hashlib.sha256(b"%d" % pair[0]).digest())
    return [one for _, one in numbered]


def _values(release: str) -> Ask:
    return Ask("GET", f"/api/v1/releases/{release}/values")


def _heard(clients: Readers, client: int, marked: Marked, seconds: float) -> dict[str, list[Heard]]:
    """Return what one client heard while the others were silent, by kind."""
    asks: list[list[Ask]] = [[], []]
    asks[client] = [ask for _, ask in marked]
    visit = clients.ask(asks, seconds)[client]
    assert len(visit.heard) == len(marked), "the time was over before all was asked"
    found: dict[str, list[Heard]] = {}
    for (kind, _), heard in zip(marked, visit.heard, strict=True):
        found.setdefault(kind, []).append(heard)
    return found


def _check_refusals(refused: dict[str, list[Heard]]) -> None:
    """Raise ``AssertionError`` unless all are one refusal of one length."""
    answers = {(heard.status, len(heard.body)) for kind in refused.values() for heard in kind}
    assert len(answers) == 1, f"{len(answers)} kinds of refusals"
    assert next(iter(answers))[0] == 404, f"refused as {answers}"


def _check_grants(granted: dict[str, list[Heard]], stored: set[str]) -> None:
    """Raise ``AssertionError`` unless what should be found was stored, and nothing else."""
    for kind, answers in granted.items():
        for heard in answers:
            assert heard.status == 200, f"status {heard.status}: {heard.body[:500]!r}"
            assert (json.loads(heard.body)["id"] in stored) == (kind == "found"), kind


def _compared(
    run: str, heard: dict[str, list[Heard]], kinds: tuple[str, str], *, goal: bool
) -> list[Figure]:
    one, other = ([each.seconds for each in heard[kind]] for kind in kinds)
    bound = CONFIDENCE * math.sqrt(1 / len(one) + 1 / len(other))
    name = f"{run}: {kinds[0]} and {kinds[1]}, distance"
    return [
        Figure(name, distance(one, other), "", goal=Goal(bound, at_most=True) if goal else None),
        *(median(f"{run}: {kind}", [each.seconds for each in heard[kind]], "ms", 1e3)
          for kind in kinds),
    ]  # fmt: skip


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(one, other).statistic)
