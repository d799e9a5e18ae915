"""Test one computation at a time for each person, given back whatever happens in it."""

import pytest

from penstock.computing.turns import RETRY_SECONDS, LocalTurns, taken
from penstock.errors import TooManyRequests


def test_a_person_has_one_turn_and_others_have_their_own() -> None:
    now = 100.0
    turns = LocalTurns(lambda: now)
    assert turns.take("ann", 5)
    assert not turns.take("ann", 5)
    assert turns.take("ben", 5)
    turns.give("ann")
    assert turns.take("ann", 5)


def test_a_turn_that_was_never_given_back_ends_by_itself() -> None:
    times = iter([0.0, 4.9, 5.0])
    turns = LocalTurns(lambda: next(times))
    assert turns.take("ann", 5)
    assert not turns.take("ann", 5)
    assert turns.take("ann", 5)


def test_giving_back_what_nobody_took_changes_nothing() -> None:
    turns = LocalTurns()
    turns.give("ann")
    assert turns.take("ann", 5)


def test_who_computes_already_is_told_when_to_ask_again() -> None:
    turns = LocalTurns()
    with taken(turns, "ann", 60, patience=0):
        with pytest.raises(TooManyRequests) as refusal, taken(turns, "ann", 60, patience=0):
            raise AssertionError("two at once")
        assert refusal.value.data["retry_after"] == RETRY_SECONDS
        with taken(turns, "ben", 60, patience=0):
            pass


def test_a_computation_that_fails_gives_its_turn_back() -> None:
    turns = LocalTurns()
    with pytest.raises(ZeroDivisionError), taken(turns, "ann", 60, patience=0):
        raise ZeroDivisionError
    with taken(turns, "ann", 60, patience=0):
        pass
