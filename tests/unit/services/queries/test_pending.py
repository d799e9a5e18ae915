"""Test that an interrupted registration ends with the keys it was charged for, or not at all."""

import pytest
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import NameTaken


def test_a_pending_query_is_not_finished_with_other_keys(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, world.push)
    taken = world.streams.taken
    with pytest.raises(NameTaken):
        world.push(keys=["x", "y", "z"])
    assert world.streams.taken == taken
    world.push()
    assert list(world.ask("pia").view.keys or ()) == ["a", "b", "c"]
