"""Report whether the server runs, and whether it can serve."""

from dataclasses import dataclass
from typing import Literal

from penstock.api.operations import ANYBODY, Operations
from penstock.api.request_context import Call
from penstock.services import disk_room
from penstock.services.audit import clocks
from penstock.services.noise.keys import require_keys
from penstock.transparency_log.sinks import forwarding

operations = Operations(prefix="")


@dataclass(frozen=True)
class StateView:
    """The state of the server."""

    status: Literal["up", "ready"]


@operations.get("/healthz", ANYBODY)
def healthz(call: Call) -> StateView:  # noqa: ARG001  # every handler takes a call
    """Report that the process answers.

    It checks nothing else: restarting a server does not help if its database is missing.
    """
    return StateView("up")


@operations.get("/readyz", ANYBODY)
def readyz(call: Call) -> StateView:
    """Report whether requests can be served now.

    The database must have the schema of this version and match what the log's witness saw last.
    The log's second place, if there is one, must accept leaves. The key ring must be usable, the
    disk must have room, and the machine's clock must not be behind the log by more than a minute.
    Otherwise the answer is 503 and says what is wrong.
    """
    call.server.database.check_schema()
    call.server.sequencer.require_sound()
    forwarding.require(call.server.sequencer.witness)
    call.server.provider.health()
    require_keys(call.server)
    disk_room.require(call.server.database)
    clocks.require(call.server)
    return StateView("ready")
