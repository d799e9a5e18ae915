"""``penstock-client audit``: what an auditor runs, to follow a server's log and cosign it."""

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from penstock_client._log.cosigning import Cosigner
from penstock_client._log.log import default_file
from penstock_client._log.notes import key_of
from penstock_client._log.watch import Seen, follow
from penstock_client._show.rounding import printable
from penstock_client.errors import InvalidArgument, PenstockError

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def audit() -> None:
    """Follow a server's log from outside (auditors)."""


@audit.command()
@click.option("--state", type=FILE, help="What was seen last [default: beside checkpoints].")
@click.option("--key", help="The log's public key, as NAME+ID+BASE64 or in hexadecimal.")
@click.option("--evidence", type=FOLDER, help="Where a fork is kept [default: beside the state].")
@click.option("--cosign", type=FILE, help="Cosign checkpoints by the key in this file.")
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--once", is_flag=True, help="Look one time, for cron.")
@click.pass_context
def watch(
    context: click.Context,
    state: Path | None,
    key: str | None,
    evidence: Path | None,
    cosign: Path | None,
    every: float,
    once: bool,
) -> None:
    """Follow the log's checkpoints, verify that each continues the last, and tell of a fork.

    A fork ends it with exit code 5, and a file with both signed notes. A server that does not
    answer is asked again (with --once: exit code 4). Without --key the key of the first answer
    is held to.
    """
    cosigner = None if cosign is None else Cosigner.load(cosign)
    with context.obj.connect() as client:
        watcher = client.watcher(
            state or default_file().with_name("watch.json"),
            key=None if key is None else _key(key),
            evidence=evidence,
            cosigner=cosigner,
        )
        if once:
            _print(watcher.look())
        else:
            follow(watcher, _print, _failed, partial(_wait, every))


@audit.command("key")
@click.argument("file", type=FILE)
@click.option("--name", required=True, help="Whose it is: auditor.example.org/penstock.")
def make_key(file: Path, name: str) -> None:
    """Make a cosigner's key in FILE, and print what the operator puts into PENSTOCK_COSIGNERS."""
    click.echo(Cosigner.create(file, name).vkey)


def _key(text: str) -> bytes:
    try:
        return key_of(text)
    except ValueError as problem:
        raise InvalidArgument(
            f"--key is no key of a log: {problem}. The operator reads it from `penstock audit"
            " checkpoint`."
        ) from problem


def _wait(seconds: float) -> bool:
    """Wait, and go on for ever."""
    time.sleep(seconds)
    return False


def _print(seen: Seen) -> None:
    size, root = seen.known.checkpoint.size, seen.known.checkpoint.root.hex()
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}"
    before = "first seen" if seen.before is None else f"continues {seen.before}"
    click.echo(f"{now} {size} leaves, root {root}, {before}{', cosigned' * seen.cosigned}")


def _failed(problem: PenstockError) -> None:
    for line in str(problem).splitlines():
        click.echo(printable(line), err=True)
