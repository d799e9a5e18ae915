"""``penstock tier``: the ranked clearance levels."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import built

if TYPE_CHECKING:
    from penstock.services.views import TierView


@click.group()
def tier() -> None:
    """Tiers: ranked levels of trust."""


@tier.command()
@click.argument("name")
@option("--rank", type=int, help="Its rank; larger is more trusted [default: on top].")
@option("--above", metavar="TIER", help="Just above this tier, below the next one.")
@option("--description", help="For people.")
@format_option
@click.pass_obj
def create(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Create a tier.  It starts with the budgets and levels of the next lower one."""
    from penstock.services import tiers
    from penstock.services.specs import TierSpec

    if rank is not None and above is not None:
        raise click.UsageError("Give --rank or --above, not both.")
    spec = built(TierSpec, name=name, rank=rank, above=above, description=description)
    made = tiers.create(operator.server, operator.principal, spec)
    operator.print(_document([made], made))


@tier.command()
@click.argument("name")
@option("--rank", type=int, help="Its new rank; larger is more trusted.")
@option("--above", metavar="TIER", help="Just above this tier, below the next one.")
@option("--description", help="For people.")
@format_option
@click.pass_obj
def change(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Move a tier, or describe it otherwise.

    Every tier pays for what those below it may see or ever saw.  Exits 3 where a budget
    does not allow the move.
    """
    from penstock.services import tiers
    from penstock.services.specs import TierChange

    if rank is not None and above is not None:
        raise click.UsageError("Give --rank or --above, not both.")
    spec = built(TierChange, rank=rank, above=above, description=description)
    changed = tiers.change(operator.server, operator.principal, name, spec)
    operator.print(_document([changed], changed))


@tier.command()
@click.argument("name")
@format_option
@click.pass_obj
def delete(operator: Operator, name: str) -> None:
    """Delete a tier that nobody holds.  What its former holders saw stays charged."""
    from penstock.services import tiers

    gone = tiers.delete(operator.server, operator.principal, name)
    operator.print(_document([gone], gone))


@tier.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the tiers, the least trusted first."""
    from penstock.services import tiers

    found = tiers.listing(operator.server)
    operator.print(_document(found, found, "" if found else "There are no tiers yet."))


def _document(found: "list[TierView]", answer: object, note: str = "") -> Document:
    columns = (Column("name"), Column("rank", str, right=True), Column("description"))
    rows = [(one.name, one.rank, one.description) for one in found]
    return Document(answer, columns, rows, note=note)
