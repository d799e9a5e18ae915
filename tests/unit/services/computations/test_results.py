"""Test that results of computations cross to another process whole."""

from dataclasses import is_dataclass

from penstock.services.computations import wire
from penstock.services.computations.results import COMPUTED, Described, SeenTier
from penstock.services.schemas.previews import PowersView, PowerView


def test_a_result_is_read_as_it_was_written() -> None:
    seen = SeenTier("public", 3, [3, 2])
    assert wire.read(wire.written(seen)) == seen
    powers = PowersView("public", 1.0, 4.0, "the least", [PowerView(4.0, 2.5)])
    described = Described([], powers)
    assert wire.read(wire.written(described)) == described


def test_every_result_is_listed_once() -> None:
    assert len(set(COMPUTED)) == len(COMPUTED)
    assert all(is_dataclass(kind) for kind in COMPUTED)
