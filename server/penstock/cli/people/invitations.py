"""Run ``penstock user``: add to ``users`` what makes, lists and revokes invitations."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.users import ROLES, user
from penstock.cli.specs import built

if TYPE_CHECKING:
    from penstock.services.schemas.people.invitations import InvitationView


@user.command()
@click.argument("name")
@option(
    "--role", type=ROLES, multiple=True, required=True, help="Role of the user; may be repeated."
)
@option("--clearance", metavar="TIER", help="Tier that the user is cleared for.")
@option(
    "--expires", "expires_in", metavar="TIME", help="For example 12h or 7d; 7 days if left out."
)
@format_option
@click.pass_obj
def invite(
    operator: Operator,
    name: str,
    role: tuple[str, ...],
    clearance: str | None,
    expires_in: str | None,
) -> None:
    """Invite a person to become the user NAME, by a link that works once.

    The link begins with PENSTOCK_PUBLIC_URL as it is set here; set it as the server has it.
    """
    from penstock.services.schemas.people.invitations import InvitationSpec
    from penstock.services.sign_on import invitations

    spec = built(
        InvitationSpec,
        name=name,
        roles=list(dict.fromkeys(role)),
        clearance=clearance,
        expires_in=expires_in,
    )
    made = invitations.invite(operator.server, operator.principal, spec)
    columns = (Column("link"), Column("id"), Column("name"), Column("expires"))
    note = "The link is shown only now. Whoever accepts it first becomes the user. It begins with"
    note = f"{note} {_origin(operator)}"
    rows = [(made.link, made.id, made.name, made.expires)]
    operator.print(Document(made, columns, rows, note=note))


@user.command("invitations")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List all invitations, without their links."""
    from penstock.services.sign_on import invitations

    views = everything(
        lambda window: invitations.listing(operator.server, operator.principal, window)
    )
    operator.print(_document(views, views, "" if views else "Nobody was invited yet."))


@user.command("revoke-invitation")
@click.argument("id")
@format_option
@click.pass_obj
def revoke(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Revoke the invitation ID, which was not accepted."""
    from penstock.services.sign_on import invitations

    view = invitations.revoke(operator.server, operator.principal, id)
    operator.print(_document([view], view))


def _origin(operator: Operator) -> str:
    """Return a sentence on the link's beginning, which a running server may have otherwise."""
    (public,) = (item for item in operator.provenance if item.name == "public_url")
    if public.source == "default":
        return (
            f"{public.value}, because PENSTOCK_PUBLIC_URL is not set here; if readers reach the"
            " server elsewhere, revoke this one, set that as the server has it, and invite again."
        )
    return f"public_url (from {public.source}), which must be as the running server has it."


def _document(views: "list[InvitationView]", answer: object, note: str = "") -> Document:
    columns = (
        *(Column("id"), Column("name"), Column("roles"), Column("clearance")),
        *(Column("state"), Column("expires"), Column("by")),
    )
    rows = [
        (
            *(view.id, view.name, view.roles, view.clearance),
            *(view.state, view.expires, view.by),
        )
        for view in views
    ]
    return Document(answer, columns, rows, note=note)
