"""Test computations where they are asked for.

Done at once, one for each person where turns say so.
"""

import pytest

from penstock.computing.turns import LocalTurns
from penstock.errors import TooManyRequests
from penstock.services.computing import Here


def add(first: int, second: int = 0) -> int:
    return first + second


def test_a_computation_is_done_with_all_its_arguments() -> None:
    assert Here().run("ann", 0, add, 2, second=3) == 5


def test_with_turns_a_person_has_one_computation_at_a_time() -> None:
    here = Here(LocalTurns())

    def nested(person: str) -> int:
        return here.run(person, 0, add, 1)

    assert here.run("ann", 0, nested, "ben") == 1
    with pytest.raises(TooManyRequests):
        here.run("ann", 0, nested, "ann")
    assert here.run("ann", 0, add, 1) == 1


def test_without_turns_nobody_waits() -> None:
    here = Here()
    assert here.run("ann", 0, lambda: here.run("ann", 0, add, 1)) == 1
