"""Test that what counts once counts once, also for two at the same time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from tests.unit.worlds import World

from penstock.services.access import used_once


def test_a_text_of_a_kind_is_used_once(world: World) -> None:
    server = world.server
    ends = server.clock() + timedelta(minutes=5)
    assert used_once.use(server, "state", "a", ends)
    assert not used_once.use(server, "state", "a", ends)
    assert used_once.use(server, "state", "b", ends)
    assert used_once.use(server, "notice", "a", ends)
    world.clock.forward(minutes=4)
    assert not used_once.use(server, "state", "a", ends)


def test_of_several_at_once_one_is_first(world: World) -> None:
    ends = world.server.clock() + timedelta(minutes=5)
    with ThreadPoolExecutor(4) as pool:
        tries = [pool.submit(used_once.use, world.server, "state", "a", ends) for _ in range(8)]
    assert sorted(each.result() for each in tries) == [False] * 7 + [True]
