"""Run ``penstock tier``: create, move, list and delete the ranked tiers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import built

if TYPE_CHECKING:
    from penstock.services.schemas.people.views import TierView

Command = Callable[..., Any]


@click.group()
def tier() -> None:
    """Create, move, list and delete tiers, the ranks of trust."""


def _placing(rank: str) -> Callable[[Command], Command]:
    """Add the options for a tier's place; ``rank`` is the help of ``--rank``."""

    def declared(command: Command) -> Command:
        for decorate in (
            format_option,
            option("--description", help="Description for people."),
            option(
                "--above", metavar="TIER", help="Place it just above this tier, below the next one."
            ),
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
@_placing("Rank; larger is more trusted [default: above all].")
@click.pass_obj
def create(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Create a tier.  It starts with the budgets and levels of the next lower one."""
    from penstock.services.people import tier_changes
    from penstock.services.schemas.people.tiers import TierSpec

    spec = built(TierSpec, name=name, description=description, **_place(rank, above))
    created = tier_changes.create(operator.server, operator.principal, spec)
    operator.print(_document([created], created))


@tier.command()
@click.argument("name")
@_placing("New rank; larger is more trusted.")
@click.pass_obj
def change(
    operator: Operator, name: str, rank: int | None, above: str | None, description: str | None
) -> None:
    """Move a tier, or change its description.

    Every tier is charged for what the tiers below it may see or ever saw.  Exits with 3 if a
    budget does not allow the move.
    """
    from penstock.services.people import tier_changes
    from penstock.services.schemas.people.tiers import TierChange

    spec = built(TierChange, description=description, **_place(rank, above))
    changed = tier_changes.change(operator.server, operator.principal, name, spec)
    operator.print(_document([changed], changed))


@tier.command()
@click.argument("name")
@format_option
@click.pass_obj
def delete(operator: Operator, name: str) -> None:
    """Delete a tier that no user has.  What its former users saw stays charged."""
    from penstock.services.approvals.actions import TierDeletion

    deleted = do_or_propose(operator, TierDeletion(tier=name))
    if deleted is not None:
        operator.print(_document([deleted], deleted))


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
