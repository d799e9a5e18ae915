"""Test draws around exact values: one for each level, whatever rule the levels follow."""

import numpy as np
from tests.support.processes import gaussian
from tests.unit.worlds import World

from penstock.services.noise.level_rule import drawn_at


def test_each_level_takes_noise_of_its_own(world: World) -> None:
    process, exact = gaussian(), np.arange(50) * 1000
    taken = world.streams.taken
    drawn = drawn_at(world.server, process, [3, 9], exact)
    assert [rung for rung, _ in drawn] == [3, 9]
    assert world.streams.taken == taken + 2
    first, second = (steps - exact for _, steps in drawn)
    assert len(set((first - second).tolist())) > 1


def test_exact_values_are_left_as_they_are(world: World) -> None:
    exact = np.arange(50)
    drawn_at(world.server, gaussian(), [3], exact)
    assert exact.tolist() == list(range(50))
