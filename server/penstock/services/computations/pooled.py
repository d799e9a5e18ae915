"""Run long computations in processes of their own, and keep their results."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.computing.answers import Answers
from penstock.computing.pool import Pool
from penstock.services.computations import wire
from penstock.services.computing import Parameters, Result

MODULE = "penstock.services.computations.job_kinds"
"""The module whose functions the processes run."""


class Pooled:
    """Run computations in a pool, and the same computation only once for the same person."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._answers = Answers()

    def run(
        self,
        person: str,
        patience: float,
        function: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Result:
        """Run a computation; see ``Computing.run``."""
        job, question = function.__name__, wire.written((arguments, named))
        answer = self._answers.find(person, job, question)
        if answer is None:
            answer = self._pool.run(person, job, question, patience)
            self._answers.keep(person, job, question, answer)
        result: Any = wire.read(answer)
        return result  # type: ignore[no-any-return]  # what the function of this name returns

    def alone(self, person: str, patience: float) -> AbstractContextManager[None]:
        """Hold the turn of a person; see ``Computing.alone``."""
        return self._pool.alone(person, patience)
