"""Run ``penstock dataset allowance``: what analysts may register by themselves."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import checked
from penstock.figures import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.services.schemas.datasets import AllowanceView


@click.group()
def allowance() -> None:
    """Let analysts of a tier register queries by themselves."""


@allowance.command("list")
@click.argument("name")
@format_option
@click.pass_obj
def list_allowances(operator: Operator, name: str) -> None:
    """List the allowances of dataset NAME, and who spent what of each."""
    from penstock.services.datasets import allowances

    operator.print(shown(allowances.listing(operator.server, operator.principal, name)))


@allowance.command()
@click.argument("name")
@click.argument("tier")
@click.argument("epsilon", type=Positive())
@option(
    "--user",
    "users",
    envvar="PENSTOCK_DATASET_ALLOWANCE_GIVE_USER",
    metavar="USER",
    multiple=True,
    help="An analyst who may use it; may be repeated [default: all of the tier].",
)
@format_option
@click.pass_obj
def give(
    operator: Operator, name: str, tier: str, epsilon: float, users: "tuple[str, ...]"
) -> None:
    """Give analysts of TIER an allowance of EPSILON in dataset NAME.

    It replaces one that was given before.  Queries under it are visible at TIER and above, and
    charged there; what was registered stays. Under the two-person rule an admin approves an
    allowance that permits more than the one before.
    """
    from penstock.services.approvals.actions import AllowanceGift
    from penstock.services.schemas.datasets import AllowanceSpec

    spec = checked(AllowanceSpec, {"epsilon": epsilon, **({"users": [*users]} if users else {})})
    act = AllowanceGift(dataset=name, tier=tier, epsilon=spec.epsilon, users=spec.users)
    given = do_or_propose(operator, act)
    if given is not None:
        operator.print(shown([given]))


@allowance.command("take-back")
@click.argument("name")
@click.argument("tier")
@format_option
@click.pass_obj
def take_back(operator: Operator, name: str, tier: str) -> None:
    """Take back the allowance of TIER in dataset NAME; what was registered under it stays."""
    from penstock.services.datasets import allowances

    operator.print(shown([allowances.take_back(operator.server, operator.principal, name, tier)]))


def shown(views: "Sequence[AllowanceView]") -> Document:
    """Return allowances with one row each."""
    columns = (
        Column("tier"),
        Column("epsilon", right=True),
        Column("users"),
        Column("remaining_share", percent, right=True),
        Column("spent_by"),
    )
    rows = [
        (
            view.tier,
            view.epsilon,
            "all" if view.users is None else ", ".join(view.users),
            view.remaining_share,
            ", ".join(f"{each.query} by {each.by} {percent(each.share)}" for each in view.queries),
        )
        for view in views
    ]
    notes = [note for view in views for note in view.notes]
    note = " ".join(notes) if views else "There are no allowances."
    return Document(views, columns, rows, note=note)
