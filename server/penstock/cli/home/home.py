"""Run the commands on the home itself: ``init``, ``status``, ``config`` and ``db``."""

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

FAILURE = 1


@click.command()
@format_option
@click.pass_obj
def init(operator: Operator) -> None:
    """Create a home in PENSTOCK_HOME: keys, database and witness.

    If there is a home already, nothing is changed.
    """
    from penstock.persistence import migrate
    from penstock.services import witnesses
    from penstock.services.operations import home

    settings = operator.settings
    home.create(settings)
    places = {
        "home": str(settings.home.resolve()),
        "database": migrate.place(settings.database_url)
        if settings.database_url
        else str(settings.database_path.resolve()),
        "keys": str(settings.keys_path.resolve()),
        "witness": witnesses.place_of(settings),
    }
    operator.print(
        Document(
            places,
            (Column("part"), Column("folder")),
            list(places.items()),
            note="Next: `penstock user create NAME --role admin`, `penstock token create NAME`"
            " and `penstock serve`. Back up the keys separately from the database: without them"
            " nothing can be read.",
        )
    )


@click.command()
@format_option
@click.pass_context
def status(context: click.Context) -> None:
    """Show whether the home is in order.  Exits with 1 if it is not."""
    from penstock.services.operations.status import examine
    from penstock.setting_sources import misspelled

    operator = context.ensure_object(Operator)
    state = examine(operator.settings)
    warnings = [*misspelled(), *state.warnings]
    rows = [(part.part, part.state, part.place) for part in state.parts]
    columns = (Column("part"), Column("state"), Column("place"))
    operator.print(
        Document(
            {
                "home": str(operator.settings.home.resolve()),
                "good": state.good,
                "parts": state.parts,
                "warnings": warnings,
            },
            columns,
            rows,
        )
    )
    for warning in warnings:
        operator.say(f"Warning: {warning}")
    if not state.good:
        context.exit(FAILURE)


@click.group()
def config() -> None:
    """Show the settings."""


@config.command("show")
@format_option
@click.pass_obj
def show_config(operator: Operator) -> None:
    """Show every setting and where its value comes from.  Secrets are masked."""
    from penstock.setting_sources import misspelled

    columns = (
        *(Column("setting"), Column("value"), Column("source")),
        Column("meaning", None),
    )
    rows = [(item.name, item.value, item.source, item.sentence) for item in operator.provenance]
    operator.print(Document(operator.provenance, columns, rows))
    for warning in misspelled():
        operator.say(f"Warning: {warning}")


@click.group()
def db() -> None:
    """Show and upgrade the database's schema."""


@db.command()
@option("--check", is_flag=True, help="Show what would be done, and change nothing.")
@format_option
@click.pass_context
def upgrade(context: click.Context, check: bool) -> None:
    """Upgrade the database to the schema that this version needs.  Back it up first.

    An earlier version charged too little when a budget was raised. Accounts concerned are charged
    the difference; those without room for it are listed.

    With --check it exits with 0 if the database has this schema already, and with 1 if an upgrade
    would change it.
    """
    operator = context.ensure_object(Operator)
    if check:
        context.exit(_print_steps(operator))
    from penstock.errors import PenstockError
    from penstock.services.ledger import undercharged
    from penstock.services.operations import home

    before, after = home.upgrade(operator.settings)
    accounts: list[undercharged.Undercharged] = []
    try:
        server = home.open_server(operator.settings)
        try:
            accounts = undercharged.put_right(server)
        finally:
            server.database.close()
    except PenstockError as problem:
        operator.say(
            f"The schema is {after}, but accounts could not be checked for missing charges:"
            f" {problem.detail} Run this command again afterwards."
        )
    if before == after and not accounts:
        operator.say(
            f"The database has schema {after} already. Rows signed with earlier keys were signed"
            " with the newest one; nothing else was changed."
        )
    for account in accounts:
        if account.refusal is None:
            operator.say(f"Charged what was missing to {account.sentence}.")
        else:
            operator.say(
                f"Charged too little and left unchanged: {account.sentence}. {account.refusal}"
            )
    _print_schema(operator, after, after)


@db.command()
@format_option
@click.pass_obj
def current(operator: Operator) -> None:
    """Show the database's schema, and the one that this version needs."""
    from penstock.persistence import migrate

    _print_schema(
        operator, migrate.current(operator.settings.resolved_database_url), migrate.NEWEST
    )


def _print_steps(operator: Operator) -> int:
    """Print what an upgrade would do; return the exit status."""
    from penstock.persistence import migrate

    schema, steps = migrate.preview(operator.settings.resolved_database_url)
    rows = [(step.schema, step.change) for step in steps]
    count = f"{len(steps)} step{'' if len(steps) == 1 else 's'}"
    operator.print(
        Document(
            {"schema": schema, "needed": migrate.NEWEST, "steps": steps},
            (Column("schema"), Column("change")),
            rows,
            note=f"The database has schema {schema or 'none'}, and this version needs"
            f" {migrate.NEWEST}: {count}. Nothing was changed. Make a backup, then run"
            " `penstock db upgrade`."
            if steps
            else f"The database has schema {migrate.NEWEST}, as this version needs: there is"
            " nothing to do.",
        )
    )
    return FAILURE if steps else 0


def _print_schema(operator: Operator, has: str | None, needs: str) -> None:
    columns = (Column("schema"), Column("needed"))
    answer = {"schema": has, "needed": needs}
    note = "" if has == needs else "Make a backup, then run `penstock db upgrade`."
    operator.print(Document(answer, columns, [(has or "none", needs)], note=note))
