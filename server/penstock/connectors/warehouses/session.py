"""Say what a driver has to offer, and what is wrong with an engine, in our own words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from penstock.connectors.statements.dialect import Dialect
from penstock.errors import PenstockError, Unavailable

PATIENCE: Final = 600
"""The seconds after which a statement that does not end is given up."""

Columns = Mapping[str, Sequence[Any]]
"""What a statement returned: columns by name, in their order."""


class Refused(PenstockError):
    """Report that an engine was reached and does not run a statement.

    What it said is not kept: it may quote a cell, or the connection's address.
    """

    code = "REFUSED"
    title = "The engine refuses"


class Session(Protocol):
    """Run statements on one engine.  All raise ``Refused``, and ``Unavailable`` if it is away."""

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        """Run one statement; ``parameters`` are in the order of their places, and have names."""

    def close(self) -> None:
        """End the session."""


class Engine(Protocol):
    """Describe one engine: its dialect, and the statements that describe a table."""

    @property
    def name(self) -> str:
        """Return the name that people know."""

    @property
    def dialect(self) -> Dialect:
        """Return what statements are written with."""

    @property
    def longest(self) -> int:
        """Return the most characters of one statement."""

    @property
    def release(self) -> str:
        """Return the statement for the engine's ``version``."""

    @property
    def types(self) -> Mapping[str, Sequence[str]]:
        """Return, by declared type, the names of the engine's types for it, in upper case."""

    def opened(self, secret: str) -> Session:
        """Return a session under a connection's secret.

        Raises ``InvalidInput`` for a secret that is not of the right form.
        """

    def located(self, secret: str, table: Sequence[str]) -> Sequence[str]:
        """Return which table of which server it is, however it is named; no user or password."""

    def columns(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for ``name`` and ``type`` of a table's columns."""

    def version(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]] | None:
        """Return the statement for ``kind``, ``version`` and ``now`` of a table.

        None for engines whose tables have no versions.
        """

    def at(self, table: str, now: str) -> str:
        """Return a quoted table as it was at the time ``now`` of the engine's own clock."""


def away(engine: str) -> Unavailable:
    """Return the error for an engine that cannot be reached."""
    return Unavailable(
        f"{engine} cannot be reached under this connection; check its host, port and credentials,"
        " and that it runs. Nothing was released."
    )
