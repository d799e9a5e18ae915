"""Write the leaves of proposals, and compare the tables of proposals and decisions with them."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlmodel import Session, select

from penstock.persistence.tables.decided.proposals import Decision, Proposal
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.schemas.proposals import State
from penstock.transparency_log import leaves
from penstock.transparency_log.logged_subject import LeafFields, versions
from penstock.transparency_log.sights import Sight


def request_of(proposal: Proposal) -> dict[str, Any]:
    """Return the request of an action, without the action's name."""
    return {name: part for name, part in json.loads(proposal.request).items() if name != "act"}


def record_state(
    session: Session, principal: Principal, proposal: Proposal, state: State, at: datetime
) -> None:
    """Append the leaf of a proposal that was made, or of the decision about it."""
    record(
        session,
        principal,
        "proposal",
        at,
        proposal=proposal.public_id,
        act=proposal.act,
        state=state,
        proposed_by=proposal.by,
        request=request_of(proposal),
        basis=json.loads(proposal.basis),
    )


class LoggedProposals:
    """Hold the proposals that the log has, and what was decided about each."""

    def __init__(self) -> None:
        self._proposals = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a proposal."""
        if leaf["kind"] == "proposal":
            request = leaves.canonical({**leaf["request"], "act": leaf["act"]}).decode()
            about = leaf["proposed_by"], request, leaves.canonical(leaf["basis"]).decode()
            self._proposals[leaf["proposal"],].append((leaf["state"], leaf["actor"], about))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield a message where proposals or decisions differ."""
        decisions = {row.proposal_id: row for row in session.exec(select(Decision)).all()}
        stored = versions()
        for row in session.exec(select(Proposal)).all():
            about = row.by, row.request, row.basis
            stored[row.public_id,].append(("open", row.by, about))
            decision = decisions.pop(row.id or 0, None)
            if decision is not None:
                stored[row.public_id,].append((decision.outcome, decision.by, about))
        if stored != self._proposals or decisions:
            yield "the proposals, or what was decided about them, are not those of the log"
