"""Test that what is kept is used under its own edition alone."""

from penstock.services.kept import Kept


def test_a_value_is_found_under_the_edition_that_it_was_read_with() -> None:
    kept = Kept[int]()
    kept.keep("a", "visits", 1)
    assert kept.edition == "a"
    assert kept.get("a", "visits") == 1
    assert kept.get("b", "visits") is None


def test_a_new_edition_drops_what_another_one_had() -> None:
    kept = Kept[int]()
    kept.keep("a", "visits", 1)
    kept.keep("b", "beds", 2)
    assert kept.get("a", "visits") is None
    assert kept.get("b", "visits") is None
    assert kept.get("b", "beds") == 2


def test_a_value_of_an_older_edition_is_never_found_under_the_newer_one() -> None:
    """A slow thread may keep what it read before a change, after others kept what came after."""
    kept = Kept[int]()
    kept.keep("b", "visits", 2)
    kept.keep("a", "visits", 1)
    assert kept.get("b", "visits") is None


def test_the_oldest_value_goes_first() -> None:
    kept = Kept[int](most=2)
    for name in ("x", "y", "z"):
        kept.keep("a", name, 1)
    assert [kept.get("a", name) for name in ("x", "y", "z")] == [None, 1, 1]
