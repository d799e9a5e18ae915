"""Provide databases that are put back to an older state, and what readers are told then."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.databases.homes import Homes
from tests.faults.reports import Reported
from tests.faults.stage import Ask, answer, settings_of, urls_beside

from penstock.errors import Conflict, NotFound, Suspended
from penstock.services.context import Server
from penstock.services.operations import backup, home

Asked = Sequence[tuple[str, Ask]]
Vectors = Mapping[tuple[str, int], tuple[float, ...]]


def copied(folder: Path, path: Path) -> Path:
    """Return a copy of a home's database as it is at this moment, while it is served."""
    backup.create(settings_of(folder), path)
    return path


def put_back(original: Path, copy: Path, folder: Path, homes: Homes) -> None:
    """Make a home with a copy of the database, beside the current keys and witness."""
    made = homes.bare(folder)
    urls_beside(folder).write_text(json.dumps(made.urls))
    shutil.copytree(original, folder)
    if made.database is None:
        shutil.rmtree(folder / "database")
        (folder / "database").mkdir(mode=0o700)
        shutil.copy(copy, folder / "database" / "penstock.db")
        return
    subprocess.run(
        [
            *("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error"),
            *(f"--dbname={made.urls['migration_database_url']}", str(copy)),
        ],
        check=True,
        capture_output=True,
    )
    home.upgrade(made.settings())


def outcomes(server: Server, asked: Asked, first: Vectors) -> Counter[str]:
    """Ask for everything, and count what becomes of it.

    *same*: the vector that was handed out before; *divergent*: another one; *new*: one of a
    level that nobody was told of before; *suspended* and *refused*: nothing.
    """
    found: Counter[str] = Counter()
    for reader, ask in asked:
        try:
            values = tuple(answer(server, reader, ask).view.values.tolist())
        except Suspended:
            found["suspended"] += 1
        except (Conflict, NotFound):
            found["refused"] += 1
        else:
            known = first.get((ask.query, ask.rung))
            found["new" if known is None else "same" if known == values else "divergent"] += 1
    return found


def vectors(answers: Sequence[Reported]) -> Vectors:
    """Return what was handed out, by query and rung."""
    return {(one.ask.query, one.ask.rung): one.values for one in answers}


def asked(answers: Sequence[Reported]) -> Asked:
    """Return who asked for what."""
    return [(one.analyst, one.ask) for one in answers]
