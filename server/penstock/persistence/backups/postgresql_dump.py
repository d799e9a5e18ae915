"""Copy a PostgreSQL database by its own ``pg_dump``, in its own format.

``pg_dump`` reads one snapshot and blocks only changes of the schema.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from penstock.errors import DatabaseUnavailable, Unavailable
from penstock.persistence import tables

DUMP = ("pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--no-password")
_DATA = re.compile(r"TABLE DATA \S+ (\S+) ")


def copy(options: Mapping[str, Any], path: Path) -> None:
    """Dump the database that libpq reaches by ``options`` into the file ``path``.

    Raises ``Unavailable`` if the program is missing, ``DatabaseUnavailable`` if it fails or if a
    table is missing in its output.
    """
    plain = {name: value for name, value in options.items() if name != "password"}
    address = psycopg.conninfo.make_conninfo("", **plain)
    # Not as an argument: every account of the machine can see those.
    secret = {"PGPASSWORD": str(options["password"])} if options.get("password") else {}
    _run([*DUMP, f"--file={path}", f"--dbname={address}"], secret)
    listed = _run(["pg_restore", "--list", str(path)], {})
    missing = set(tables.metadata.tables) - set(_DATA.findall(listed))
    if missing:
        raise DatabaseUnavailable(
            f"The dump lacks {', '.join(sorted(missing))}. Name the owner of the database in"
            " PENSTOCK_MIGRATION_DATABASE_URL, and try again."
        )


def _run(command: Sequence[str], secret: Mapping[str, str]) -> str:
    program = command[0]
    by_hand = f"`{' '.join([*DUMP, '--file=PATH', '--dbname=URL'])}`, as the database's owner"
    try:
        done = subprocess.run(  # noqa: S603 - the program is named above, nothing comes from outside
            command, env={**os.environ, **secret}, stdin=subprocess.DEVNULL, capture_output=True
        )
    except FileNotFoundError as error:
        raise Unavailable(
            f"{program} is not installed here. Install PostgreSQL's client programs"
            f" (postgresql-client), or run, on a machine that has them: {by_hand}."
        ) from error
    if done.returncode:
        # Its messages may quote its arguments.
        raise DatabaseUnavailable(
            f"{program} failed with exit code {done.returncode}. It must have the server's"
            f" version or a newer one, and connect as the owner; to see its message run"
            f" {by_hand}."
        )
    return done.stdout.decode(errors="replace")
