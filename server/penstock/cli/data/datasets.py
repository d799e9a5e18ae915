"""``penstock dataset``: sources of records, and what each tier may learn from them."""

from typing import TYPE_CHECKING

import click

from penstock import examples
from penstock.cli.data.checks import check
from penstock.cli.data.documents import budget_of, shown, unit_in_words
from penstock.cli.data.drafts import dataset_example, whole
from penstock.cli.data.imports import import_metadata
from penstock.cli.operator import Operator, everything
from penstock.cli.options import TierBudget, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.specs import checked, content_of
from penstock.cli.statistics.budget_preview import moved, together

if TYPE_CHECKING:
    pass


@click.group()
def dataset() -> None:
    """Datasets and their budgets."""


dataset.add_command(import_metadata)
dataset.add_command(dataset_example)
dataset.add_command(check)


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
            view.source.get("uri", view.source["engine"]),
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
    """Show one dataset: its declared columns, and each tier's budget."""
    from penstock.services.datasets import datasets

    operator.print(shown(datasets.show(operator.server, operator.principal, name)))


@dataset.command(
    epilog=whole("A whole FILE:", examples.DATASET)
    + "\n\n"
    + whole("With this visits.csv in PENSTOCK_DATA_FOLDER, it runs as it stands:", examples.CSV)
    + "\n\n`penstock dataset example FILE.csv` drafts one for a file of yours."
)
@click.argument("file")
@format_option
@click.pass_obj
def register(operator: Operator, file: str) -> None:
    """Register the dataset that FILE declares, as JSON or TOML; - is standard input."""
    from penstock.services.datasets import datasets
    from penstock.services.schemas.queries import DatasetRequest

    content = content_of(file, operator.settings.query_body_limit)
    request = checked(DatasetRequest, content)
    operator.progress("Taking the fingerprint of the source")
    made = datasets.register(operator.server, operator.principal, request)
    for notice in made.notices:
        click.echo(notice, err=True)
    operator.print(shown(made))


@dataset.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def version(operator: Operator, name: str, file: str) -> None:
    """Register new data of dataset NAME: FILE says source and budgets, as JSON or TOML.

    FILE may also say disjoint_units, that nobody in the new data is in earlier ones: else
    what people lose in several versions adds up.  - is standard input.
    """
    from penstock.services.datasets import datasets
    from penstock.services.schemas.queries import VersionRequest

    content = content_of(file, operator.settings.query_body_limit)
    request = checked(VersionRequest, content)
    operator.progress("Taking the fingerprint of the source")
    made = datasets.add_version(operator.server, operator.principal, name, request)
    for notice in made.notices:
        click.echo(notice, err=True)
    operator.print(shown(made))


@dataset.command()
@click.argument("name")
@click.argument("file")
@format_option
@click.pass_obj
def correct(operator: Operator, name: str, file: str) -> None:
    """Declare dataset NAME otherwise, as FILE says: JSON or TOML, - is standard input.

    FILE has what changes of privacy_unit, neighboring, delta, columns and max_units; a column
    that it lists is declared anew as a whole, one that is null is left out. Once anything was
    charged columns and max_units alone may change, and what was spent stays spent.
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
    "looking",
    envvar="PENSTOCK_DATASET_SAME_PEOPLE_PREVIEW",
    is_flag=True,
    help="Show what it would come to, and do nothing.",
)
@format_option
@click.pass_obj
def same_people(operator: Operator, name: str, other: str, *, looking: bool) -> None:
    """Declare that datasets NAME and OTHER hold the same people, as a CSV and its Parquet do.

    From then on what people may lose, were granted and have lost is added up over both, as
    over versions of one dataset. No budget becomes another. There is no way back.
    """
    from penstock.services.exposure import same_people as people

    if looking:
        preview = people.preview(operator.server, operator.principal, name, other)
        operator.print(together(preview))
        return
    operator.print(shown(people.declare(operator.server, operator.principal, name, other)))


@dataset.command()
@click.argument("name")
@format_option
@click.pass_obj
def withdraw(operator: Operator, name: str) -> None:
    """Take back the newest version of dataset NAME, in which nothing was ever charged.

    Its file may be registered again, and so may NAME once no version is left; the version
    keeps its number.
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
    "--rows", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many rows."
)
@option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="The same seed gives the same rows.",
)
@format_option
@click.pass_obj
def dummy(operator: Operator, name: str, rows: int, seed: int) -> None:
    """Make up rows of a dataset's declared columns, to try code on.

    They are made of the declaration alone; the data are not read.
    """
    from penstock.services.datasets import dummy_rows as made_up

    dummy_view = made_up.rows(operator.server, operator.principal, name, rows=rows, seed=seed)
    columns = [Column(column) for column in dummy_view.items[0]]
    operator.print(Document(dummy_view, columns, [tuple(row.values()) for row in dummy_view.items]))


@dataset.command()
@click.argument("name")
@option(
    "--set",
    "wanted",
    envvar="PENSTOCK_DATASET_BUDGET_SET",
    metavar="TIER=EPSILON",
    multiple=True,
    type=TierBudget(),
    help="Raise or lower a tier's budget first; may be given several times.",
)
@option(
    "--preview",
    "looking",
    envvar="PENSTOCK_DATASET_BUDGET_PREVIEW",
    is_flag=True,
    help="Show what --set would mean, and do nothing: what queries cost more, and whether it fits.",
)
@format_option
@click.pass_obj
def budget(
    operator: Operator, name: str, wanted: "tuple[tuple[str, float], ...]", *, looking: bool
) -> None:
    """Show what each tier was granted, has spent and has left, and on which queries.

    A budget that becomes larger than it ever was makes the error of samplers dearer: what queries
    cost more is charged with it.  Exits 3 where there is no room for that, and where a budget would
    be set below what is spent.
    """
    from penstock.services import budgets

    if looking and not wanted:
        raise click.UsageError("Say with --set which budgets to look at.")
    if wanted:
        from penstock.services.approvals.actions import BudgetChange
        from penstock.services.schemas.datasets import DatasetChange

        if len({tier for tier, _ in wanted}) < len(wanted):
            raise click.UsageError("Set the budget of each tier once.")
        content = {"budgets": {tier: {"epsilon": epsilon} for tier, epsilon in wanted}}
        change = checked(DatasetChange, content)
        if looking:
            from penstock.services.previews import budget_preview

            preview = budget_preview.preview(operator.server, operator.principal, name, change)
            operator.print(moved(preview))
            return
        if do_or_propose(operator, BudgetChange(dataset=name, budgets=change.budgets)) is None:
            return
    operator.print(budget_of(budgets.show(operator.server, operator.principal, name)))


@dataset.command()
@click.argument("name")
@option("--yes", is_flag=True, help="Do it: there is no way back.")
@format_option
@click.pass_obj
def shred(operator: Operator, name: str, yes: bool) -> None:
    """Destroy the keys of a dataset: nothing stored of it can be read again.

    That goes for backups of the database, once the key that was destroyed is in no copy of
    the keys either.  Releases that were handed out stay with whoever has them; what they
    cost stays spent, and the log stays.
    """
    from penstock.services.approvals.actions import Shredding

    if not yes:
        raise click.UsageError(f"Say --yes to destroy all that is stored of {name!r}, for ever.")
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
            note="Copies of the keys that were made before hold them still: destroy those too.",
        )
    )
