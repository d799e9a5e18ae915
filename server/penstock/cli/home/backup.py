"""``penstock backup``: a copy of the database while it is served, and whether one still opens."""

from pathlib import Path

import click

from penstock.cli.home.home import FAILURE
from penstock.cli.operator import Operator
from penstock.cli.options import format_option
from penstock.cli.output import Column, Document


class _Backups(click.Group):
    """Takes a path in the place of a command, which is then ``create``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["create", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Backups)
def backup() -> None:
    """Copies of the database: `penstock backup PATH` makes one."""


@backup.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@format_option
@click.pass_obj
def create(operator: Operator, path: Path) -> None:
    """Copy the database into the new file PATH, while it may be served.

    A SQLite file is copied to another one, a PostgreSQL database by pg_dump into its own
    format.  The copy is checked before it counts.  Beside it a manifest names the keys that it
    needs.  Keys and witness are not in it, and must be kept apart from it.
    """
    from penstock.services.operations.backup import create as services_create

    made = services_create(operator.settings, path)
    rows = [
        ("backup", made.path),
        ("kind", made.kind),
        ("schema", made.schema),
        ("bytes", str(made.bytes)),
        ("manifest", made.manifest),
    ]
    operator.print(
        Document(
            made,
            (Column("part"), Column("value")),
            rows,
            note=f"Not in it, and needed to read it: the keys in {made.keys}. Keep a copy of them"
            " on another disk than this one. Leave the witness where it is:"
            f" {made.witness}. Put the backup back only where the database is lost: the server"
            " is suspended then, and what was drawn since is lost (deploy/README.md).",
        )
    )


@backup.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@format_option
@click.pass_obj
@click.pass_context
def check(context: click.Context, operator: Operator, path: Path) -> None:
    """Say whether today's keys open the backup PATH, before it is put back.

    Nothing is changed, and no database need be there.
    """
    from penstock.services.operations.backup import check as services_check

    checked = services_check(operator.settings, path)
    rows = [
        (key.key, key.dataset or "the log", key.version or "", key.problem or "opens")
        for key in checked.keys
    ]
    columns = (Column("key"), Column("dataset"), Column("version", right=True), Column("today"))
    facts = (f"{checked.kind}, schema {checked.schema}; manifest: {checked.manifest}.",)
    wrong = "; ".join(checked.problems)
    note = (
        "Today's keys open all of it."
        if checked.opens
        else "It must not be put back with these keys"
        f"{': ' + wrong if wrong else ''}. Bring the keys folder of its time, or another backup;"
        " one with a dataset that was shredded since is not served under the keys of today."
    )
    answer = {"opens": checked.opens, **vars(checked)}
    operator.print(Document(answer, columns, rows, facts=facts, note=note))
    if not checked.opens:
        context.exit(FAILURE)
