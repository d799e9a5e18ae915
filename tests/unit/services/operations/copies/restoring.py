"""Put a backup back into an empty home."""

import shutil
import subprocess
from pathlib import Path

from tests.databases.homes import Home, Homes

from penstock.services.operations import backup, home


def restored(made: backup.BackupView, homes: Homes, folder: Path, keys: Path) -> Home:
    """Return a home with what the backup holds, and a copy of the keys that were kept apart."""
    target = homes.bare(folder)
    for kept in ("keys", "witness"):
        shutil.copytree(keys.with_name(kept), folder / kept)
    if homes.cluster is None:
        (folder / "database").mkdir()
        shutil.copy(made.path, folder / "database" / "penstock.db")
        return target
    command = ["pg_restore", "--no-owner", "--no-privileges", "--exit-on-error"]
    owner = homes.cluster.url(target.database or "", role="penstock_owner")
    subprocess.run([*command, f"--dbname={owner}", made.path], check=True)
    home.upgrade(target.settings())
    return target
