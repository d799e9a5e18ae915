"""Run ``penstock proposal``: list, approve and withdraw proposals of the two-person rule."""

from typing import TYPE_CHECKING, TypeVar

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

if TYPE_CHECKING:
    from penstock.services.approvals.actions import Action
    from penstock.services.schemas.proposals import ProposalView, State

STATES = click.Choice(["open", "approved", "withdrawn", "failed", "expired"])
View = TypeVar("View")


@click.group()
def proposal() -> None:
    """List and decide proposals of the two-person rule."""


@proposal.command("list")
@option("--state", type=STATES, help="List only proposals in this state.")
@format_option
@click.pass_obj
def listing(operator: Operator, state: "State | None") -> None:
    """List proposals, with their state and result."""
    from penstock.services.approvals import proposals

    views = everything(
        lambda window: proposals.listing(operator.server, operator.principal, window, state)
    )
    operator.print(_document(views, views, "" if views else "There are no proposals."))


@proposal.command()
@click.argument("id")
@format_option
@click.pass_obj
def approve(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Approve an admin's proposal ID and carry it out.

    The operator counts as one person: an admin has to approve, over HTTP, what was proposed on
    this command line.
    """
    from penstock.services.approvals import proposals

    approved = proposals.approve(operator.server, operator.principal, id)
    operator.print(_document([approved], approved))


@proposal.command()
@click.argument("id")
@format_option
@click.pass_obj
def withdraw(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Withdraw the proposal ID without carrying it out."""
    from penstock.services.approvals import proposals

    withdrawn = proposals.withdraw(operator.server, operator.principal, id)
    operator.print(_document([withdrawn], withdrawn))


def do_or_propose(operator: Operator, act: "Action[View]") -> View | None:
    """Carry out an action; if it needs two people, propose it and print the proposal."""
    from penstock.services.approvals import proposals
    from penstock.services.schemas.proposals import ProposalView

    view = proposals.do_or_propose(operator.server, operator.principal, act)
    if not isinstance(view, ProposalView):
        return view
    note = (
        "Nothing was done yet. Under the two-person rule an admin has to approve this, by"
        f" POST /api/v1/proposals/{view.id}/approval."
    )
    operator.print(_document([view], view, note))
    return None


def _document(proposals: "list[ProposalView]", answer: object, note: str = "") -> Document:
    columns = (
        *(Column("id"), Column("act"), Column("request", _request), Column("state")),
        *(Column("proposed_by"), Column("expires_at"), Column("decided_by"), Column("reason")),
    )
    rows = [
        (
            *(view.id, view.act, view.request, view.state),
            *(view.proposed_by, view.expires_at, view.decided_by, view.reason),
        )
        for view in proposals
    ]
    return Document(answer, columns, rows, note=note)


def _request(cell: object) -> str:
    import json

    return json.dumps(cell, ensure_ascii=False)
