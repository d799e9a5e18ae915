"""Run ``penstock group``: map groups of the OpenID provider to roles and tiers."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.users import ROLES
from penstock.cli.specs import built

if TYPE_CHECKING:
    from penstock.services.schemas.people.views import GroupMappingView


@click.group()
def group() -> None:
    """Map groups of the OpenID provider to roles and a tier."""


@group.command("map")
@click.argument("name")
@option("--role", type=ROLES, multiple=True, help="Role of its members; may be repeated.")
@option("--tier", help="Tier that its members are cleared for.")
@format_option
@click.pass_obj
def give(operator: Operator, name: str, role: tuple[str, ...], tier: str | None) -> None:
    """Map the group NAME, in place of what it was mapped to.

    It counts from each member's next sign-in.  A clearance that was set for a user is never
    exceeded.
    """
    from penstock.services.schemas.people.groups import GroupMappingSpec
    from penstock.services.sign_on import mappings

    if not role and tier is None:
        raise click.UsageError("Give a --role, a --tier, or both; `group unmap` gives nothing.")
    spec = built(GroupMappingSpec, group=name, roles=list(dict.fromkeys(role)), tier=tier)
    view = mappings.give(operator.server, operator.principal, spec)
    operator.print(_document([view], view))


@group.command("unmap")
@click.argument("id")
@format_option
@click.pass_obj
def take(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Let the mapping ID of a group give nothing from now on."""
    from penstock.services.sign_on import mappings

    view = mappings.take(operator.server, operator.principal, id)
    operator.print(_document([view], view))


@group.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the groups that are mapped."""
    from penstock.services.sign_on import mappings

    views = everything(lambda window: mappings.listing(operator.server, operator.principal, window))
    operator.print(_document(views, views, "" if views else "No group is mapped."))


def _document(views: "list[GroupMappingView]", answer: object, note: str = "") -> Document:
    columns = (
        *(Column("group"), Column("roles"), Column("tier"), Column("counts")),
        *(Column("issuer"), Column("by"), Column("since"), Column("id")),
    )
    rows = [
        (
            *(view.group, view.roles, view.tier, view.counts),
            *(view.issuer, view.by, view.since, view.id),
        )
        for view in views
    ]
    return Document(answer, columns, rows, note=note)
