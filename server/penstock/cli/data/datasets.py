"""Run ``penstock dataset``: register sources of records, and set the budgets of their tiers."""

from typing import TYPE_CHECKING

import click

from penstock import examples
from penstock.cli.data.allowances import allowance
from penstock.cli.data.checks import check
from penstock.cli.data.documents import budget_of, shown, unit_in_words
from penstock.cli.data.imports import import_metadata
from penstock.cli.drafts import dataset_example, whole
from penstock.cli.operator import Operator, everything
from penstock.cli.options import TierBudget, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import checked, content_of
from penstock.cli.statistics.budget_preview import moved, together
from penstock.cli.wordings import texts_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.services.schemas.views import DatasetView


@click.group()
def dataset() -> None:
    """Register, show and change datasets and their budgets."""


dataset.add_command(import_metadata)
dataset.add_command(dataset_example)
dataset.add_command(check)
dataset.add_command(allowance)


@dataset.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the datasets."""
    from penstock.services.datasets import datasets

    views = everything(lambda window: datasets.listing(operator.server, operator.principal, window))
    columns = (
        *(Column("name"), Column("version", right=True), Column("source")),
        *(Column("privacy_unit"), Column("neighboring"), Column("delta", right=True)),
        *(Column("tiers"), Column("registered_at")),
    )
    rows = [
        (
            view.name,
            view.version,
            view.source.get("uri") or view.source.get("table") or view.source["engine"],
            unit_in_words(view.privacy_unit),
            view.neighboring,
            view.delta,
            list(view.budgets),
            view.registered_at,
        )
        for view in views
    ]
    note = "" if views else "There are no datasets yet."
    operator.print(Document(views, columns, rows, note=note))


@dataset.command()
@click.argument("name")
@format_option
@click.pass_obj
def show(operator: Operator, name: str) -> None:
    """Show one dataset: its columns and each tier's budget."""
    from penstock.services.datasets import datasets

    operator.print(shown(datasets.show(operator.server, operator.principal, name)))


@dataset.command(
    epilog=whole("A complete FILE:", examples.DATASET)
    + "\n\n"
    + whole("With this visits.csv in PENSTOCK_DATA_FOLDER, it can be registered:", examples.CSV)
    + "\n\n`penstock dataset example FILE.csv` writes a draft for a file of yours."
)
@click.argument("file")
@format_option
@click.pass_obj
def register(operator: Operator, file: str) -> None:
    """Register the dataset that FILE declares.

    FILE is JSON or TOML; - is standard input.
    """
    from penstock.services.datasets import datasets
    from penstock.services.schemas.queries import DatasetRequest

    request = checked(DatasetRequest, content_of(file, operator.settings.query_body_limit))
    _register(operator, lambda: datasets.register(operator.server, operator.principal, request))


@dataset.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def version(operator: Operator, name: str, file: str) -> None:
    """Register new data of dataset NAME.

    FILE has source and budgets, as JSON or TOML.  FILE may also have disjoint_units, which states
    that no person in the new data is in earlier versions; otherwise privacy losses in several
    versions add up.  - is standard input.
    """
    from penstock.services.datasets import datasets
    from penstock.services.schemas.queries import VersionRequest

    request = checked(VersionRequest, content_of(file, operator.settings.query_body_limit))
    _register(
        operator,
        lambda: datasets.add_version(operator.server, operator.principal, name, request),
    )


def _register(operator: Operator, act: "Callable[[], DatasetView]") -> None:
    """Register data, and print what is known of them and of others like them."""
    operator.progress("Computing the fingerprint of the source")
    view = act()
    for notice in view.notices:
        click.echo(notice, err=True)
    operator.print(shown(view))


@dataset.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def correct(operator: Operator, name: str, file: str) -> None:
    """Correct the declaration of dataset NAME as FILE says.

    FILE is JSON or TOML; - is standard input.  FILE has the fields that change, of privacy_unit,
    neighboring, delta, columns and max_units. A column in FILE replaces its whole declaration; a
    column that is null is removed. Once anything was charged, only columns and max_units may
    change. What was spent stays spent.
    """
    from penstock.services.datasets import corrections
    from penstock.services.schemas.datasets import CorrectionRequest

    content = content_of(file, operator.settings.query_body_limit)
    request = checked(CorrectionRequest, content)
    operator.print(shown(corrections.correct(operator.server, operator.principal, name, request)))


@dataset.command("same-people")
@click.argument("name")
@click.argument("other")
@option(
    "--preview",
    "preview_only",
    envvar="PENSTOCK_DATASET_SAME_PEOPLE_PREVIEW",
    is_flag=True,
    help="Show the budgets of both together, and do nothing.",
)
@format_option
@click.pass_obj
def same_people(operator: Operator, name: str, other: str, *, preview_only: bool) -> None:
    """Declare that datasets NAME and OTHER have the same people.

    They may be a CSV file and a Parquet file of one table, for instance.  From then on exposure and
    granted and spent budgets are added up over both, as over versions of one dataset. No budget
    itself changes. This cannot be undone.
    """
    from penstock.services.exposure import same_people as people

    if preview_only:
        preview = people.preview(operator.server, operator.principal, name, other)
        operator.print(together(preview))
        return
    operator.print(shown(people.declare(operator.server, operator.principal, name, other)))


@dataset.command()
@click.argument("name")
@format_option
@click.pass_obj
def withdraw(operator: Operator, name: str) -> None:
    """Withdraw the newest version of dataset NAME.

    It is possible only if nothing was ever charged to the version.  Its file may be registered
    again, and so may NAME once no version is left. The version's number is not used again.
    """
    from penstock.services.approvals.actions import Withdrawal

    done = do_or_propose(operator, Withdrawal(dataset=name))
    if done is None:
        return
    rows = [("dataset", done.dataset), ("withdrawn version", str(done.version))]
    rows.append(("newest version now", "none" if done.newest is None else str(done.newest)))
    operator.print(Document(done, (Column("what"), Column("value")), rows))


@dataset.command()
@click.argument("name")
@option(
    "--rows", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Number of rows."
)
@option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="The same seed makes the same rows.",
)
@format_option
@click.pass_obj
def dummy(operator: Operator, name: str, rows: int, seed: int) -> None:
    """Make up rows of a dataset's declared columns, to try code on.

    The rows follow from the declaration only; the data are not read.
    """
    from penstock.services.datasets import dummy_rows

    dummy_view = dummy_rows.rows(operator.server, operator.principal, name, rows=rows, seed=seed)
    columns = [Column(column) for column in dummy_view.items[0]]
    operator.print(Document(dummy_view, columns, [tuple(row.values()) for row in dummy_view.items]))


@dataset.command()
@click.argument("name")
@option(
    "--set",
    "new_budgets",
    envvar="PENSTOCK_DATASET_BUDGET_SET",
    metavar="TIER=EPSILON",
    multiple=True,
    type=TierBudget(),
    help="Raise or lower a tier's budget first; may be given several times.",
)
@option(
    "--preview",
    "preview_only",
    envvar="PENSTOCK_DATASET_BUDGET_PREVIEW",
    is_flag=True,
    help="Show what --set would do, and do nothing: which queries cost more, and if that fits.",
)
@format_option
@click.pass_obj
def budget(
    operator: Operator,
    name: str,
    new_budgets: "tuple[tuple[str, float], ...]",
    *,
    preview_only: bool,
) -> None:
    """Show the granted, spent and remaining budget of each tier.

    If a budget becomes larger than it ever was, the failure probability of its queries' samplers
    costs more; the difference is charged with the change.  Exits with 3 if that does not fit, or
    if a budget would be set below what is spent.
    """
    from penstock.services import budgets

    if preview_only and not new_budgets:
        raise click.UsageError("--preview needs --set TIER=EPSILON.")
    if new_budgets:
        from penstock.services.approvals.actions import BudgetChange
        from penstock.services.schemas.datasets import DatasetChange

        if len({tier for tier, _ in new_budgets}) < len(new_budgets):
            raise click.UsageError("--set names a tier twice; set the budget of each tier once.")
        content = {"budgets": {tier: {"epsilon": epsilon} for tier, epsilon in new_budgets}}
        change = checked(DatasetChange, content)
        if preview_only:
            from penstock.services.previews import budget_preview

            preview = budget_preview.preview(operator.server, operator.principal, name, change)
            operator.print(moved(preview))
            return
        if do_or_propose(operator, BudgetChange(dataset=name, budgets=change.budgets)) is None:
            return
    operator.print(budget_of(budgets.show(operator.server, operator.principal, name)))


@dataset.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def describe(operator: Operator, name: str, file: str) -> None:
    """Change title, description, unit, tags, labels and owners of the dataset NAME as FILE says.

    FILE contains {"title": "...", "unit": "days", "labels": {CODE: "..."}}, as JSON or TOML; - is
    standard input.  Texts that are left out stay.  They are for readers alone: no budget, level or
    spec changes.
    """
    from penstock.services import rewording

    texts = texts_in(operator, file)
    operator.print(shown(rewording.of_dataset(operator.server, operator.principal, name, texts)))


@dataset.command()
@click.argument("name")
@option("--yes", is_flag=True, help="Confirm; this cannot be undone.")
@format_option
@click.pass_obj
def shred(operator: Operator, name: str, yes: bool) -> None:
    """Destroy the keys of a dataset.

    Nothing stored of it can ever be read again.  That includes backups of the database, once no
    copy of the keys contains the destroyed key. People keep the releases that they were given; what
    these cost stays spent, and the log stays.
    """
    from penstock.services.approvals.actions import Shredding

    if not yes:
        raise click.UsageError(
            f"This destroys all that is stored of {name!r}, forever. Confirm with --yes."
        )
    done = do_or_propose(operator, Shredding(dataset=name))
    if done is None:
        return
    rows = [
        ("dataset", done.dataset),
        ("versions", ", ".join(map(str, done.versions))),
        ("queries retired", str(done.queries)),
        ("keys destroyed", str(done.keys)),
    ]
    operator.print(
        Document(
            done,
            (Column("what"), Column("value")),
            rows,
            note="Earlier copies of the keys still contain the destroyed ones: destroy those copies"
            " too.",
        )
    )
