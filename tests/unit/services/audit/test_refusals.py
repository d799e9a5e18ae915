"""Test that refused requests become one leaf: causes that were counted, and since when."""

from datetime import datetime

import pytest
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.errors import Unavailable
from penstock.services.audit import refusals


def test_a_leaf_has_the_causes_that_were_counted_and_no_others(world: World) -> None:
    refusals.record(world.server, {"not_found": 3, "too_often": 0, "bad_tokens": 1}, 90)
    leaf = logged.leaves(world)[-1]
    assert (leaf["kind"], leaf["not_found"], leaf["bad_tokens"]) == ("refusals", 3, 1)
    assert "too_often" not in leaf
    since, at = (datetime.fromisoformat(leaf[name]) for name in ("since", "at"))
    assert (at - since).total_seconds() == 90


def test_what_was_stored_is_not_told_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller counts what was not stored once more, so that a stored leaf raises nothing."""
    watch = world.server.database.watch
    assert watch is not None

    def failed(_: object) -> None:
        raise Unavailable("The witness does not answer.")

    monkeypatch.setattr(watch, "committed", failed)
    refusals.record(world.server, {"not_found": 1}, 60)
    monkeypatch.setattr(watch, "begun", failed)
    with pytest.raises(Unavailable):
        refusals.record(world.server, {"not_found": 1}, 60)
