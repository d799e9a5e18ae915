"""``penstock user``: who may sign in, in which role, cleared for what."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import built, checked

if TYPE_CHECKING:
    from penstock.services.schemas.people import UserView

ROLES = click.Choice(["admin", "analyst", "auditor"])


@click.group()
def user() -> None:
    """Users: their roles and clearances."""


@user.command()
@click.argument("name")
@option("--role", type=ROLES, multiple=True, required=True, help="May be repeated.")
@option("--clearance", metavar="TIER", help="The tier that the user is cleared for.")
@format_option
@click.pass_obj
def create(operator: Operator, name: str, role: tuple[str, ...], clearance: str | None) -> None:
    """Create a user.  Tokens are made with `penstock token create`."""
    from penstock.services.people import users
    from penstock.services.schemas.people import UserSpec

    spec = built(UserSpec, name=name, roles=list(dict.fromkeys(role)), clearance=clearance)
    made = users.create(operator.server, operator.principal, spec)
    note = ""
    if "analyst" in made.roles and made.clearance is None:
        note = f"{made.name} sees nothing until `penstock user set-clearance {made.name} TIER`."
    operator.print(document([made], made, note))


@user.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List all users."""
    from penstock.services.people import users

    views = everything(lambda window: users.listing(operator.server, operator.principal, window))
    operator.print(document(views, views, "" if views else "There are no users yet."))


@user.command()
@click.argument("name")
@format_option
@click.pass_obj
def show(operator: Operator, name: str) -> None:
    """Show one user."""
    from penstock.services.people import users

    view = users.show(operator.server, operator.principal, name)
    operator.print(document([view], view))


@user.command("set-clearance")
@click.argument("name")
@click.argument("tier", required=False)
@option("--none", is_flag=True, help="Take the clearance away.")
@format_option
@click.pass_obj
def set_clearance(operator: Operator, name: str, tier: str | None, none: bool) -> None:
    """Promote or demote a user to TIER, at once, also for tokens already issued.

    What they were handed before stays with them.
    """
    from penstock.services.people import users
    from penstock.services.schemas.people import UserChange

    if (tier is None) is not none:
        raise click.UsageError("Give either a TIER or --none.")
    spec = checked(UserChange, {"clearance": tier})
    changed = users.change(operator.server, operator.principal, name, spec)
    operator.print(document([changed], changed))


@user.command()
@click.argument("name")
@format_option
@click.pass_obj
def disable(operator: Operator, name: str) -> None:
    """Shut a user out: all their tokens are revoked.  Their history stays."""
    from penstock.services.people import users

    changed = users.disable(operator.server, operator.principal, name)
    operator.print(document([changed], changed))


def document(users: "list[UserView]", answer: object, note: str = "") -> Document:
    """One row for each user."""
    columns = (
        *(Column("name"), Column("roles"), Column("clearance")),
        *(Column("active"), Column("created_at")),
    )
    rows = [(view.name, view.roles, view.clearance, view.active, view.created_at) for view in users]
    return Document(answer, columns, rows, note=note)
