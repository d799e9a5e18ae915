"""Provide admins who decide proposals at once, each in a process of its own."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

from sqlalchemy.exc import IntegrityError
from tests.faults.stage import choices, open_home

from penstock.errors import Conflict
from penstock.services.access.principals import Principal, acting_as
from penstock.services.approvals import proposals
from penstock.services.context import Server
from penstock.services.schemas.proposals import ProposalView

Decide = Callable[[Server, Principal, str, Barrier], ProposalView]


def approving(server: Server, principal: Principal, proposal: str, _: Barrier) -> ProposalView:
    """Return the product, and no other way to end a proposal than to approve it."""
    return proposals.approve(server, principal, proposal)


def deciding(server: Server, principal: Principal, proposal: str, _: Barrier) -> ProposalView:
    """Return the product; of four people one withdraws."""
    number = int(principal.name.removeprefix("admin-"))
    act = proposals.withdraw if number % 4 == 0 else proposals.approve
    return act(server, principal, proposal)


def looking_before(
    server: Server, principal: Principal, proposal: str, barrier: Barrier
) -> ProposalView:
    """Return a broken variant: whether it is open is looked up before the lock is taken."""
    with server.database.read() as session:
        proposals._open(session, server, proposal)
    barrier.wait()
    vars(proposals)["_open"] = lambda session, _, name: proposals._proposal_row(session, name)
    return proposals.approve(server, principal, proposal)


def compete(
    home: Path, number: int, wanted: list[str], decide: Decide, barrier: Barrier, told: Path
) -> None:
    server = ruled(open_home(home))
    principal = acting_as(server, admin(number))
    order = [wanted[place] for place in choices("decide", number).permutation(len(wanted))]
    found = {}
    barrier.wait()
    for proposal in order:
        with suppress(Conflict, IntegrityError):
            found[proposal] = decide(server, principal, proposal, barrier).state
    told.write_text(json.dumps(found))


def ruled(server: Server) -> Server:
    return replace(server, settings=server.settings.model_copy(update={"two_person_rule": True}))


def admin(number: int) -> str:
    return f"admin-{number}"
