"""Measure a first release of a million values between two stored ones, against its least work.

The least work is the bridge and the encryption, on one thread, as the release itself; in turns with
it another one is drawn on two.  The rest is what a release is more than noise: reading and opening
both neighbors, the hashes of its chunks, row, leaf and grant, and the durable commit.  The answer,
whose numbers are opened while they are sent, is measured apart.

The goal is for processor time: waiting for the disk is much of a release's duration.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np
from sqlmodel import Session, col, select
from tests.benchmarks.database.world import World, check_values, fresh_world, levels_between
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import median, ratio, timed

from penstock.encryption import (
    Key,
    RowIdentity,
)
from penstock.encryption.vectors import seal_vector
from penstock.http.answers import blocks_of, rendered
from penstock.mechanisms import IntVector
from penstock.persistence.tables import Dataset, Release
from penstock.randomness import Stream
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.process import Process
from penstock.services.noise.sealed_state import open_state
from penstock.services.repository.queries import query_by_name

QUERY = "large"
GOAL = Goal(1.3, at_most=True)
THREADS_GOAL = Goal(1.7)
THREADS = 2

Result = TypeVar("Result")


@dataclass(frozen=True)
class Setting:
    """Hold how many values there are, and how many releases."""

    values: int = 1_000_000
    rounds: int = 21


@dataclass(frozen=True)
class Work:
    """Hold the bridge and the encryption of one release that was made, ready to be done again."""

    process: Process
    accurate: Fraction
    noisy: Fraction
    level: Fraction
    difference: IntVector
    released: IntVector
    key: Key = field(default_factory=Key.fresh)

    def bridge(self) -> IntVector:
        return self.process.mechanism.bridge(
            self.accurate, self.noisy, self.difference, self.level, Stream.fresh()
        )

    def encryption(self) -> bytes:
        identity = RowIdentity(
            table="release", dataset="none", length=len(self.released), type="int64"
        )
        return seal_vector(self.key, self.released, identity)


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Time in every round two releases, and the bridge and the encryption of the first alone."""
    whole, worked, shared, bridge, encryption, streamed = ([] for _ in range(6))
    with fresh_world() as world:
        world.add_query(QUERY, setting.values)
        analyst = world.add_analyst("ana")
        world.ask(analyst, QUERY, tier="public")
        levels = _scattered(levels_between(2 * (setting.rounds + 1)))
        for level, other in zip(levels[::2], levels[1::2], strict=True):
            alone, on_threads = _drawing_on(world, 1), _drawing_on(world, THREADS)
            (answer, work_), spent = timed(
                partial(_working, partial(alone.ask, analyst, QUERY, level=level))
            )
            whole.append(spent)
            worked.append(work_)
            assert answer.first
            values = np.asarray(answer.view.values)
            check_values(values, setting.values, answer.view.level.value)
            work = _work(world, answer.view.id)
            assert np.array_equal(work.process.values(0, work.released), values), (
                "what was answered is not what was stored"
            )
            bridge.append(_working(work.bridge)[1])
            encryption.append(_working(work.encryption)[1])
            sent, spent = _working(lambda: sum(len(part) for part in blocks_of(answer.view)))  # noqa: B023 - called now
            streamed.append(spent)
            assert sent == len(rendered(answer.view))
            shared.append(timed(partial(on_threads.ask, analyst, QUERY, level=other))[1])
    least = [one + other for one, other in zip(bridge, encryption, strict=True)]
    # The first round fills caches and is not counted.
    return [
        median("release", whole[1:], "ms", 1e3),
        median("release, processor time", worked[1:], "ms", 1e3),
        median("bridge alone, processor time", bridge[1:], "ms", 1e3),
        median("encryption alone, processor time", encryption[1:], "ms", 1e3),
        ratio("release over bridge and encryption", worked[1:], least[1:], GOAL),
        ratio(
            f"release on one thread over {THREADS}, durations", whole[1:], shared[1:], THREADS_GOAL
        ),
        median("its JSON streamed, processor time", streamed[1:], "ms", 1e3),
    ]


def _working(task: Callable[[], Result]) -> tuple[Result, float]:
    """Return what ``task`` returned, and its seconds of processor time."""
    before = time.process_time()
    result = task()
    return result, time.process_time() - before


def _drawing_on(world: World, threads: int) -> World:
    """Return ``world`` with a server that draws on so many threads."""
    return World(replace(world.server, randomness=partial(Stream.fresh, threads=threads)))


def _scattered(levels: list[float]) -> list[float]:
    """Return levels in a fixed order that is neither up nor down: neighbors are near and far."""
    return sorted(levels, key=lambda level: hashlib.sha256(str(level).encode()).digest())


def _work(world: World, public_id: str) -> Work:
    with world.server.database.read() as session:
        query = query_by_name(session, QUERY)
        dataset = session.get_one(Dataset, query.dataset_id)
        made = session.exec(select(Release).where(col(Release.public_id) == public_id)).one()
        assert made.accurate_rung is not None
        assert made.noisy_rung is not None, "the release has a neighbor on one side only"
        accurate = open_state(
            world.server, dataset, query, _at(session, made.query_id, made.accurate_rung)
        )
        noisy = open_state(
            world.server, dataset, query, _at(session, made.query_id, made.noisy_rung)
        )
        process = kind_of(query)
        return Work(
            process=process,
            accurate=process.ladder.value(made.accurate_rung),
            noisy=process.ladder.value(made.noisy_rung),
            level=process.ladder.value(made.rung),
            difference=noisy - accurate,
            released=open_state(world.server, dataset, query, made),
        )


def _at(session: Session, query_id: int, rung: int) -> Release:
    return session.exec(
        select(Release).where(col(Release.query_id) == query_id, col(Release.rung) == rung)
    ).one()
