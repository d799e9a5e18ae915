"""Test families: one class for a key while anything refers to it, and none kept after that."""

import gc

from penstock.mechanisms.families import Families


def _made() -> tuple[Families[int, type], list[int]]:
    keys: list[int] = []

    def make(key: int) -> type:
        keys.append(key)
        return type(f"Family{key}", (), {})

    return Families(make), keys


def test_a_family_in_use_is_made_once_however_many_others_are_made() -> None:
    families, keys = _made()
    first = families.of(0)
    others = [families.of(key) for key in range(1, 1_000)]
    assert families.of(0) is first
    assert keys == list(range(1_000))
    assert len(set(others)) == 999


def test_a_family_that_nothing_refers_to_is_forgotten() -> None:
    families, keys = _made()
    families.of(7)
    gc.collect()
    families.of(7)
    assert keys == [7, 7]
