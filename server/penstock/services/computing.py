"""Run long computations: in this process, or in processes of their own.

The computations are pure functions of public numbers (``computations``).  A process that serves
requests runs them elsewhere (``pooled``), so that one person's long computation does not delay
others; the command line and tests run them in their own process.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import ParamSpec, Protocol, TypeVar

from penstock.computing.turns import Turns, taken

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

PATIENCE = 60.0
"""The seconds that an action, unlike a preview, waits for the person's running computation."""

HOUR = 3600.0


class Computing(Protocol):
    """Run functions of ``computations.FUNCTIONS``."""

    def run(
        self,
        person: str,
        patience: float,
        function: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Result:
        """Run ``function`` for ``person``, after at most ``patience`` seconds for their turn.

        Raises what the function raises, and what ``Pool.run`` raises.
        """

    def alone(self, person: str, patience: float) -> AbstractContextManager[None]:
        """Hold the turn of ``person`` for work in this process, as ``run`` does elsewhere.

        Raises ``TooManyRequests`` if their computation under way is not done in time.
        """


class Here:
    """Run everything in this process; with ``turns``, one computation per person at a time."""

    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns

    def run(
        self,
        person: str,
        patience: float,
        function: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Result:
        """Run a computation; see ``Computing.run``."""
        with self.alone(person, patience):
            return function(*arguments, **named)

    def alone(self, person: str, patience: float) -> AbstractContextManager[None]:
        """Hold the turn of a person, if there are turns; see ``Computing.alone``."""
        return nullcontext() if self._turns is None else taken(self._turns, person, HOUR, patience)
