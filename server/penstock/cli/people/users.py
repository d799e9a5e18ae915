"""Run ``penstock user``: create, list and disable users, and set their clearance."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import STANDARD_INPUT, built, bytes_of, checked
from penstock.errors import InvalidInput

if TYPE_CHECKING:
    from penstock.services.schemas.people.users import UserSpec
    from penstock.services.schemas.people.views import UserView

ROLES = click.Choice(["admin", "analyst", "auditor"])


@click.group()
def user() -> None:
    """Create, show and disable users, and set their clearance."""


@user.command()
@click.argument("name")
@option(
    "--role", type=ROLES, multiple=True, required=True, help="Role of the user; may be repeated."
)
@option("--clearance", metavar="TIER", help="Tier that the user is cleared for.")
@format_option
@click.pass_obj
def create(operator: Operator, name: str, role: tuple[str, ...], clearance: str | None) -> None:
    """Create a user.  Create tokens for the user with `penstock token create`."""
    from penstock.services.people import users
    from penstock.services.schemas.people.users import UserSpec

    spec = built(UserSpec, name=name, roles=list(dict.fromkeys(role)), clearance=clearance)
    created = users.create(operator.server, operator.principal, spec)
    note = ""
    if "analyst" in created.roles and created.clearance is None:
        note = (
            f"{created.name} has no clearance and sees nothing yet; run"
            f" `penstock user set-clearance {created.name} TIER`."
        )
    operator.print(document([created], created, note))


@user.command("import")
@click.argument("file")
@option("--dry-run", is_flag=True, help="Check the file and create nobody.")
@format_option
@click.pass_obj
def import_users(operator: Operator, file: str, dry_run: bool) -> None:
    """Create the users of a CSV FILE: all of them, or none.

    Its columns are name, roles (separated by spaces or semicolons) and clearance (a tier, or
    empty).  FILE may be -, standard input.  Create tokens with `penstock token create`.
    """
    from penstock.services.people import user_lists
    from penstock.services.schemas.people.users import UserList

    specs = _specs_of(operator, file)
    view = user_lists.create(
        operator.server, operator.principal, UserList(users=specs, dry_run=dry_run)
    )
    rows = [(each.name, each.roles, each.clearance) for each in view.users]
    columns = (Column("name"), Column("roles"), Column("clearance"))
    note = f"{len(rows)} created."
    if view.dry_run:
        note = f"The file is valid, and {len(rows)} would be created; run it without --dry-run."
    operator.print(Document(view, columns, rows, note=note))


def _specs_of(operator: Operator, file: str) -> "list[UserSpec]":
    """Return the users of a file.  Raises ``InvalidInput`` with everything that is wrong in it."""
    from penstock.services.people import user_lists

    limit = operator.settings.body_limit
    raw = bytes_of(file, limit)
    if len(raw) > limit:
        shown = "standard input" if file == STANDARD_INPUT else file
        raise InvalidInput(
            f"{shown} is longer than {limit} bytes, the limit for a list of users;"
            " PENSTOCK_BODY_LIMIT sets this limit."
        )
    try:
        return user_lists.read_file(operator.server, operator.principal, raw)
    except InvalidInput as problem:
        # Its sentence has every line; the place in a form says nothing here.
        raise InvalidInput(problem.detail) from problem


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
@option("--none", is_flag=True, help="Remove the clearance.")
@format_option
@click.pass_obj
def set_clearance(operator: Operator, name: str, tier: str | None, none: bool) -> None:
    """Promote or demote a user to TIER.

    It takes effect at once, also for tokens already issued.  Users keep the releases that they were
    given before.
    """
    from penstock.services.people import users
    from penstock.services.schemas.people.users import UserChange

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
    """Disable a user: all their tokens are revoked.  Their history stays."""
    from penstock.services.people import users

    changed = users.disable(operator.server, operator.principal, name)
    operator.print(document([changed], changed))


def document(users: "list[UserView]", answer: object, note: str = "") -> Document:
    """Return users, with one row for each."""
    columns = (
        *(Column("name"), Column("roles"), Column("clearance")),
        *(Column("active"), Column("created_at")),
    )
    rows = [(view.name, view.roles, view.clearance, view.active, view.created_at) for view in users]
    return Document(answer, columns, rows, note=note)
