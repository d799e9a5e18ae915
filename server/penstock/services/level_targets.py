"""Find the level that a target asks for before a request holds the database.

Under Poisson, Skellam and generalized Gaussian noise it takes tenths of a second of a
processor to find the least noise that meets an epsilon.  Whoever asks for many such levels
would hold up everybody else; so it is done where other long computations are.
"""

from dataclasses import dataclass

from penstock.persistence.tables import Dataset
from penstock.privacy import Target
from penstock.services.again import again
from penstock.services.computations import rung
from penstock.services.computing import PATIENCE
from penstock.services.lookup import allowed_rung, clearance_of, query_by_name, required
from penstock.services.principals import Principal
from penstock.services.process import Process
from penstock.services.server import Server

QUICK = frozenset({"gaussian", "laplace"})
"""Mechanisms for which it takes about a thousandth of a second."""


@dataclass(frozen=True)
class Met:
    """The ``rung`` of ``process`` that meets what was asked for, at ``delta``."""

    process: Process
    delta: float
    rung: int


def find(server: Server, principal: Principal, name: str, target: Target | None) -> Met | None:
    """Find the rung of query ``name`` that meets ``target``, or ``None`` where it is found at once.

    For what ``principal`` may not release nothing is worked out.  Raises ``NotFound`` for a query
    that does not exist, ``InvalidInput`` for a target that no level meets, and what
    ``Computing.run`` does.
    """
    if target is None:
        return None
    slow = again(lambda: _slow(server, principal, name))
    if slow is None:
        return None
    found = server.computing.run(principal.name, PATIENCE, rung, slow[0], target, slow[1])
    return Met(*slow, found)


def _slow(server: Server, principal: Principal, name: str) -> tuple[Process, float] | None:
    with server.database.read() as session:
        clearance = clearance_of(session, required(principal.user_id))
        if clearance is None:
            return None
        query = query_by_name(session, name)
        slow = query.histogram is not None or query.mechanism not in QUICK
        if not slow or query.status != "active" or allowed_rung(session, query, clearance) is None:
            return None
        return Process.of(query), session.get_one(Dataset, query.dataset_id).delta
