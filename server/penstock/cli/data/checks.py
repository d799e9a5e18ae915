"""Run ``penstock dataset check``: estimate the share of rows outside all categories, privately."""

import click

from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.statistics import queries as query_output
from penstock.cli.statistics import releases as release_output


@click.command("check")
@click.argument("name")
@click.argument("column")
@option(
    "--tier", help="Tier that gets the answer [default: that of --as, else the most trusted one]."
)
@option(
    "--epsilon", type=Positive(), default=0.05, show_default=True, help="Epsilon that it costs."
)
@option(
    "--rows",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Largest number of rows of one privacy unit that count.",
)
@option(
    "--as",
    "user",
    metavar="USER",
    envvar="PENSTOCK_DATASET_CHECK_AS",
    help="Analyst to whom the answer is released at once.",
)
@option(
    "--preview",
    "preview_only",
    is_flag=True,
    envvar="PENSTOCK_DATASET_CHECK_PREVIEW",
    help="Show what it would cost, and do nothing.",
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
    preview_only: bool,
) -> None:
    """Estimate the share of rows outside all categories of COLUMN.

    In dataset NAME such rows count in no group of that column, and no release shows it. The
    estimate is a query and is charged as one: --epsilon, for the tier and the tiers above it. If
    the share is large, declare the column again with `penstock dataset correct`; the charge
    remains. Exits with 3 if a budget does not allow it.
    """
    from penstock.services.access.principals import acting_as
    from penstock.services.datasets import datasets
    from penstock.services.previews import query_preview
    from penstock.services.queries import category_checks, registration
    from penstock.services.releases import releases
    from penstock.services.schemas.queries import ReleaseRequest

    server, principal = operator.server, operator.principal
    reader = None if user is None else acting_as(server, user, by=principal)
    dataset = datasets.show(server, principal, name)
    request = category_checks.check_request(
        dataset,
        column,
        tier or _cleared(operator, user),
        epsilon=epsilon,
        rows=rows,
        name=category_checks.free_name(server, dataset.name, column),
    )
    if preview_only:
        operator.print(query_output.previewed(query_preview.preview(server, principal, request)))
        return
    operator.progress("Charging every tier, then reading the data once")
    query = registration.register(server, principal, request)
    if reader is None:
        operator.print(query_output.shown(query))
        return
    answer = releases.request(server, reader, query.name, ReleaseRequest())
    operator.print(release_output.document(answer.view))


def _cleared(operator: Operator, user: str | None) -> str | None:
    """Return the clearance of a user, if a user is named and has one."""
    from penstock.services.people import users

    if user is None:
        return None
    return users.show(operator.server, operator.principal, user).clearance
