"""Test that every long computation can be requested by its name, and is not remembered."""

from functools import lru_cache

from penstock.services.computations import wire
from penstock.services.computations.computations import FUNCTIONS, compose
from penstock.services.computations.job_kinds import JOBS, forget


def test_every_computation_has_a_name_of_its_own() -> None:
    assert set(JOBS) == {str(function.__name__) for function in FUNCTIONS}
    assert len(JOBS) == len(FUNCTIONS)


def test_a_job_answers_as_its_function_does() -> None:
    question = wire.written((([], 1e-6), {}))
    assert wire.read(JOBS["compose"](question)) == compose([], 1e-6)


def test_what_was_worked_out_before_is_forgotten() -> None:
    worked_out = []

    @lru_cache
    def slow(number: int) -> int:
        worked_out.append(number)
        return number

    slow(1)
    slow(1)
    forget()
    slow(1)
    assert worked_out == [1, 1]
