"""Represent one authenticated request, as the handlers see it."""

from dataclasses import dataclass, field

from penstock.http.pacing import quanta_of
from penstock.services.access.principals import Principal
from penstock.services.context import Server


@dataclass
class Call:
    """Hold the server, who calls, and in how many time quanta the answer may show how long it took.

    ``quanta`` is 0 where the answer goes out at once.
    """

    server: Server
    caller: Principal | None
    quanta: int = field(default=0, init=False)

    @property
    def principal(self) -> Principal:
        """The caller.  Only operations that anybody may call have none."""
        if self.caller is None:
            raise RuntimeError("an operation without a token asked for its caller")
        return self.caller

    def hide_duration(self, values: int) -> None:
        """Let the answer, a vector of ``values``, not tell whether it was drawn just now."""
        self.quanta = quanta_of(values)
