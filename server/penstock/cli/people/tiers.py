"""``penstock tier``: the ranked clearance levels."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import built

if TYPE_CHECKING:
    from penstock.services.schemas.people import TierView

Command = Callable[..., Any]


@click.group()
def tier() -> None:
    """Tiers: ranked levels of trust."""


def _placing(rank: str) -> Callable[[Command], Command]:
    """The options that say where a tier stands; ``rank`` is the help of ``--rank``."""

    def declared(command: Command) -> Command:
        for decorate in (
            format_option,
            option("--description", help="For people."),
            option("--above", metavar="TIER", help="Just above this tier, below the next one."),
            option("--rank", type=int, help=rank),
        ):
            command = decorate(command)
        return command

    return declared


def _place(rank: int | None, above: str | None) -> dict[str, int | str | None]:
    if rank is not None and above is not None:
        raise click.UsageError("Give --rank or --above, not both.")
    return {"rank": rank, "above": above}


@tier.command()
@click.argument("name")
@_placing("Its rank; larger is more trusted [default: on top].")
@click.pass_obj
def create(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Create a tier.  It starts with the budgets and levels of the next lower one."""
    from penstock.services.people import tier_changes
    from penstock.services.schemas.people import TierSpec

    spec = built(TierSpec, name=name, description=description, **_place(rank, above))
    made = tier_changes.create(operator.server, operator.principal, spec)
    operator.print(_document([made], made))


@tier.command()
@click.argument("name")
@_placing("Its new rank; larger is more trusted.")
@click.pass_obj
def change(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Move a tier, or describe it otherwise.

    Every tier pays for what those below it may see or ever saw.  Exits 3 where a budget
    does not allow the move.
    """
    from penstock.services.people import tier_changes
    from penstock.services.schemas.people import TierChange

    spec = built(TierChange, description=description, **_place(rank, above))
    changed = tier_changes.change(operator.server, operator.principal, name, spec)
    operator.print(_document([changed], changed))


@tier.command()
@click.argument("name")
@format_option
@click.pass_obj
def delete(operator: Operator, name: str) -> None:
    """Delete a tier that nobody holds.  What its former holders saw stays charged."""
    from penstock.services.approvals.actions import TierDeletion

    gone = do_or_propose(operator, TierDeletion(tier=name))
    if gone is not None:
        operator.print(_document([gone], gone))


@tier.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the tiers, the least trusted first."""
    from penstock.services.people import tiers

    views = tiers.listing(operator.server)
    operator.print(_document(views, views, "" if views else "There are no tiers yet."))


def _document(tiers: "list[TierView]", answer: object, note: str = "") -> Document:
    columns = (Column("name"), Column("rank", str, right=True), Column("description"))
    rows = [(view.name, view.rank, view.description) for view in tiers]
    return Document(answer, columns, rows, note=note)
