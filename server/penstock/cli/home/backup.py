"""Run ``penstock backup``: copy the database while it is served, and check a copy's keys."""

from pathlib import Path

import click

from penstock.cli.home.home import FAILURE
from penstock.cli.operator import Operator
from penstock.cli.options import format_option
from penstock.cli.output import Column, Document


class _Backups(click.Group):
    """Run ``create`` if a path is given instead of a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["create", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Backups)
def backup() -> None:
    """Create and check copies of the database.

    `penstock backup PATH` creates one.
    """


@backup.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@format_option
@click.pass_obj
def create(operator: Operator, path: Path) -> None:
    """Copy the database into the new file PATH.

    The server may keep running.  A SQLite file is copied to another one, a PostgreSQL database by
    pg_dump in its custom format. The copy is checked before it is kept.  A manifest beside it names
    the keys that it needs. Chunks of vectors of more than 2^19 values are copied into a folder
    beside it. The copy does not contain keys or witness; keep those separately.
    """
    from penstock.services.operations.backup import create as services_create

    backup_view = services_create(operator.settings, path)
    rows = [
        ("backup", backup_view.path),
        ("kind", backup_view.kind),
        ("schema", backup_view.schema),
        ("bytes", str(backup_view.bytes)),
        ("manifest", backup_view.manifest),
        *([("chunks", backup_view.chunks)] if backup_view.chunks else []),
    ]
    operator.print(
        Document(
            backup_view,
            (Column("part"), Column("value")),
            rows,
            note="The backup does not contain the keys that are needed to read it; they are in"
            f" {backup_view.keys}. Keep a copy of them on another disk. Leave the witness where it"
            f" is: {backup_view.witness}. Restore the backup only if the database is lost: the"
            " server is then suspended, and what was drawn since is lost (deploy/backups.md).",
        )
    )


@backup.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@format_option
@click.pass_obj
@click.pass_context
def check(context: click.Context, operator: Operator, path: Path) -> None:
    """Check whether the present keys open the backup PATH.

    Check a backup before you restore it.  Nothing is changed, and no database is needed.
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
        "The present keys open all of it."
        if checked.opens
        else "It must not be restored with these keys"
        f"{': ' + wrong if wrong else ''}. Use the keys folder of its time, or another backup;"
        " a backup with a dataset that was shredded since is not served under the present keys."
    )
    answer = {"opens": checked.opens, **vars(checked)}
    operator.print(Document(answer, columns, rows, facts=facts, note=note))
    if not checked.opens:
        context.exit(FAILURE)
