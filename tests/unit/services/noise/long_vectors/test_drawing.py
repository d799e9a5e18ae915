"""Test that long vectors are drawn from the exact values once, and then from their neighbors."""

from fractions import Fraction

import numpy as np
import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import rows, vectors
from tests.unit.worlds import LONG_VALUES, World

from penstock.errors import Conflict
from penstock.persistence.tables.queries import Query
from penstock.privacy.level import Ladder
from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws
from penstock.services.queries import level_changes
from penstock.services.schemas.queries import LevelsChange


def query_of(world: World) -> Query:
    with world.server.database.read() as session:
        return rows(session)[1]


def draws(world: World, rung: int, number: int) -> ChunkDraws:
    """Return the draws of the attempt that took the stream of this number."""
    kind = kind_of(query_of(world))
    key = Stream.from_key(number.to_bytes(32, "little")).raw_uint64(4).tobytes()
    return ChunkDraws(kind.mechanism, level_of(kind.ladder, rung), key)


def level_of(ladder: Ladder, rung: int) -> Fraction:
    return ladder.value(rung)


def test_the_anchor_is_drawn_around_the_exact_values(long: World) -> None:
    kind, ((rung, anchor),) = kind_of(query_of(long)), vectors(long).items()
    scale = int(1 / kind.mechanism.granularity)
    exact = np.array(LONG_VALUES, dtype=np.int64) * scale
    drawer = draws(long, rung, long.streams.taken)
    for index, span in enumerate(anchor.spans()):
        assert anchor.chunk(index).tolist() == drawer.anchor(index, exact[span]).tolist()


def test_a_level_is_drawn_from_its_nearest_neighbors(long: World) -> None:
    long.ask("pia", "long")
    long.ask("paul", "long")
    ladder, stored = kind_of(query_of(long)).ladder, vectors(long)
    accurate, between, noisy = sorted(stored)
    drawer = draws(long, between, long.streams.taken)
    for index in range(3):
        expected = drawer.between(
            index,
            (ladder.value(accurate), stored[accurate].chunk(index)),
            (ladder.value(noisy), stored[noisy].chunk(index)),
        )
        assert stored[between].chunk(index).tolist() == expected.tolist()


def raised(world: World, values: list[int]) -> None:
    change = LevelsChange.model_validate(
        {"levels": {"internal": {"epsilon": 1.0}}, "values": values}
    )
    level_changes.change(world.server, OPERATOR, "long", change)


def test_a_more_accurate_anchor_is_drawn_from_the_same_values_and_the_old_one(long: World) -> None:
    raised(long, LONG_VALUES)
    kind, stored = kind_of(query_of(long)), vectors(long)
    fresh, old = sorted(stored)
    exact = np.array(LONG_VALUES, dtype=np.int64) * int(1 / kind.mechanism.granularity)
    drawer = draws(long, fresh, long.streams.taken)
    for index, span in enumerate(stored[old].spans()):
        noisy = kind.ladder.value(old), stored[old].chunk(index)
        expected = drawer.raised(index, exact[span], noisy)
        assert stored[fresh].chunk(index).tolist() == expected.tolist()


def test_other_values_are_refused(long: World) -> None:
    with pytest.raises(Conflict, match="not those"):
        raised(long, [*LONG_VALUES[:-1], 49])
    assert len(vectors(long)) == 1
