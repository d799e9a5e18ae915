"""Where long computations are done: here, or in a process of their own.

What is computed are pure functions of public numbers (``computations``).  Whoever serves
requests has them done elsewhere (``pooled``), so that one person's long question does not
hold up the others; the command line and tests have them done where they are.
"""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from penstock.computing.turns import Turns, taken

Asked = ParamSpec("Asked")
Found = TypeVar("Found")

PATIENCE = 60.0
"""Seconds that an act, unlike a preview, waits for what its person has under way."""

HOUR = 3600.0


class Computing(Protocol):
    """Works functions of ``computations.FUNCTIONS`` out."""

    def run(
        self,
        person: str,
        patience: float,
        function: Callable[Asked, Found],
        *arguments: Asked.args,
        **named: Asked.kwargs,
    ) -> Found:
        """Work ``function`` out for ``person``, whose turn it waits ``patience`` seconds for.

        Raises what the function does, and what ``Pool.run`` does.
        """


class Here:
    """Works everything out where it is asked for; with ``turns``, one thing a person."""

    def __init__(self, turns: Turns | None = None) -> None:
        self._turns = turns

    def run(
        self,
        person: str,
        patience: float,
        function: Callable[Asked, Found],
        *arguments: Asked.args,
        **named: Asked.kwargs,
    ) -> Found:
        """See ``Computing.run``."""
        if self._turns is None:
            return function(*arguments, **named)
        with taken(self._turns, person, HOUR, patience):
            return function(*arguments, **named)
