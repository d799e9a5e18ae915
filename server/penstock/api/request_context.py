"""Represent one authenticated request to its handler."""

from dataclasses import dataclass, field

from penstock.http.pacing import quanta_of
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.releases.allowed import EarlyLook


@dataclass
class Call:
    """Hold the server, the caller, and the number of time quanta that the answer is padded to.

    ``quanta`` is 0 if the answer is sent at once.  ``look`` is what was read of a release in the
    statement that confirmed the caller, if there was one.
    """

    server: Server
    caller: Principal | None
    look: EarlyLook | None = None
    quanta: int = field(default=0, init=False)

    @property
    def principal(self) -> Principal:
        """Return the caller.  Raise ``RuntimeError`` in an operation that takes no token."""
        if self.caller is None:
            raise RuntimeError("an operation that takes no token has no caller")
        return self.caller

    def hide_duration(self, values: int) -> None:
        """Pad the answer's time for ``values`` values, which hides whether they were just drawn."""
        self.quanta = quanta_of(values)
