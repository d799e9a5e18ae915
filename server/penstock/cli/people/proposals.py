"""``penstock proposal``: what takes two people under the two-person rule."""

from typing import TYPE_CHECKING, TypeVar

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

if TYPE_CHECKING:
    from penstock.services.approvals.actions import Act
    from penstock.services.schemas.proposals import ProposalView, State

STATES = click.Choice(["open", "approved", "withdrawn", "failed", "expired"])
View = TypeVar("View")


@click.group()
def proposal() -> None:
    """Acts that one person proposed, and another one approves."""


@proposal.command("list")
@option("--state", type=STATES, help="Only those in this state.")
@format_option
@click.pass_obj
def listing(operator: Operator, state: "State | None") -> None:
    """List what was proposed, and what came of it."""
    from penstock.services.approvals import proposals

    found = everything(
        lambda window: proposals.listing(operator.server, operator.principal, window, state)
    )
    operator.print(_document(found, found, "" if found else "Nothing is proposed."))


@proposal.command()
@click.argument("id")
@format_option
@click.pass_obj
def approve(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Approve the proposal ID of an admin, and do what it says.

    The operator is one person: what was proposed here is approved by an admin, over HTTP.
    """
    from penstock.services.approvals import proposals

    found = proposals.approve(operator.server, operator.principal, id)
    operator.print(_document([found], found))


@proposal.command()
@click.argument("id")
@format_option
@click.pass_obj
def withdraw(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Close the proposal ID without doing it."""
    from penstock.services.approvals import proposals

    found = proposals.withdraw(operator.server, operator.principal, id)
    operator.print(_document([found], found))


def asked(operator: Operator, act: "Act[View]") -> View | None:
    """Do something, or propose it where that takes two people: then that is printed."""
    from penstock.services.approvals import proposals
    from penstock.services.schemas.proposals import ProposalView

    found = proposals.asked(operator.server, operator.principal, act)
    if not isinstance(found, ProposalView):
        return found
    note = (
        "Nothing was done yet: under the two-person rule an admin has to approve this, by"
        f" POST /api/v1/proposals/{found.id}/approval."
    )
    operator.print(_document([found], found, note))
    return None


def _document(found: "list[ProposalView]", answer: object, note: str = "") -> Document:
    columns = (
        *(Column("id"), Column("act"), Column("request", _request), Column("state")),
        *(Column("proposed_by"), Column("expires_at"), Column("decided_by"), Column("reason")),
    )
    rows = [
        (
            *(one.id, one.act, one.request, one.state),
            *(one.proposed_by, one.expires_at, one.decided_by, one.reason),
        )
        for one in found
    ]
    return Document(answer, columns, rows, note=note)


def _request(cell: object) -> str:
    import json

    return json.dumps(cell, ensure_ascii=False)
