"""``penstock backup``: a copy of the database while it is served."""

from pathlib import Path

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option
from penstock.cli.output import Column, Document


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@format_option
@click.pass_obj
def backup(operator: Operator, path: Path) -> None:
    """Copy the database into the new file PATH, while it may be served.

    A SQLite file is copied to another one, a PostgreSQL database by pg_dump into its own
    format.  The copy is checked before it counts.  Keys and witness are not in it, and must
    be kept apart from it.
    """
    from penstock.services.backup import create

    made = create(operator.settings, path)
    rows = [
        ("backup", made.path),
        ("kind", made.kind),
        ("schema", made.schema),
        ("bytes", str(made.bytes)),
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
