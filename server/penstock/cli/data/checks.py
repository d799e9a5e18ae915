"""``penstock dataset check``: what share of rows no category takes, for a small charge."""

import click

from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.statistics import queries as query_output
from penstock.cli.statistics import releases as release_output


@click.command("check")
@click.argument("name")
@click.argument("column")
@option("--tier", help="The tier that it is for: that of --as, else the most trusted one.")
@option("--epsilon", type=Positive(), default=0.05, show_default=True, help="What it costs.")
@option(
    "--rows",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="As how many rows one privacy unit counts at most.",
)
@option(
    "--as",
    "user",
    metavar="USER",
    envvar="PENSTOCK_DATASET_CHECK_AS",
    help="An analyst who is given the answer at once.",
)
@option(
    "--preview",
    "looking",
    is_flag=True,
    envvar="PENSTOCK_DATASET_CHECK_PREVIEW",
    help="Tell what it would cost, and do nothing.",
)
@format_option
@click.pass_obj
def check(
    operator: Operator,
    name: str,
    column: str,
    tier: str | None,
    epsilon: float,
    rows: int,
    user: str | None,
    *,
    looking: bool,
) -> None:
    """Check what share of rows has a COLUMN that none of its categories takes.

    Rows of dataset NAME whose cell is no category count in no group of that column, and
    nothing tells. So this is a query, charged as one: the tier loses --epsilon, and so do tiers
    above it. Where the share is large, `penstock dataset correct` declares the column anew;
    what was spent stays spent. Exits 3 where a budget does not allow it.
    """
    from penstock.services.access.principals import acting_as
    from penstock.services.datasets import datasets
    from penstock.services.previews import query_preview
    from penstock.services.queries import category_checks, queries
    from penstock.services.releases import releases
    from penstock.services.schemas.queries import ReleaseRequest

    server, principal = operator.server, operator.principal
    reader = None if user is None else acting_as(server, user, by=principal)
    dataset = datasets.show(server, principal, name)
    wanted = category_checks.wanted(
        dataset,
        column,
        tier or _cleared(operator, user),
        epsilon=epsilon,
        rows=rows,
        name=category_checks.free_name(server, dataset.name, column),
    )
    if looking:
        operator.print(query_output.previewed(query_preview.preview(server, principal, wanted)))
        return
    operator.progress("Charging every tier, then reading the data once")
    made = queries.register(server, principal, wanted)
    if reader is None:
        operator.print(query_output.shown(made))
        return
    answer = releases.request(server, reader, made.name, ReleaseRequest())
    operator.print(release_output.document(answer.view))


def _cleared(operator: Operator, user: str | None) -> str | None:
    """The tier that a user is cleared for, if one is named and is."""
    from penstock.services.people import users

    if user is None:
        return None
    return users.show(operator.server, operator.principal, user).clearance
