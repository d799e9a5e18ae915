"""Continue from a wrong time in the log, written while the machine's clock was ahead."""

from dataclasses import dataclass
from datetime import datetime

from penstock.errors import Conflict
from penstock.persistence.protocol import Need
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.transparency_log.leaves import CLOCK, timestamp


@dataclass(frozen=True)
class ClockView:
    """Hold the time of the log that was given up, the machine's present time, and their leaf."""

    before: datetime
    after: datetime
    leaf: int


def acknowledge(server: Server, principal: Principal) -> ClockView:
    """Record that the log was signed at a wrong time, and continue with the machine's clock.

    Raises ``Conflict`` if the machine's clock is not behind the log, and ``Suspended``.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        server.clock.look(session)
        difference = server.clock.difference()
        if difference is None:
            raise Conflict(
                f"This machine's clock says {timestamp(server.clock())}, and the log has no later"
                f" signature: there is nothing to acknowledge, and nothing was changed."
            )
        leaf = record(
            session, principal, CLOCK, difference.machine, before=timestamp(difference.signed)
        )
    return ClockView(difference.signed, difference.machine, leaf.index or 0)


def require(server: Server) -> None:
    """Raise ``Unavailable`` if the machine's clock is behind the log by more than a minute."""
    with server.database.read() as session:
        server.clock.require(session)
