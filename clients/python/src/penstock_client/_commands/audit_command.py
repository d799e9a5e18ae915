"""Run ``penstock-client audit``: auditors follow a server's log and cosign it."""

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from penstock_client._log.cosigning import Cosigner
from penstock_client._log.log import default_file
from penstock_client._log.notes import key_of
from penstock_client._log.reports import verify
from penstock_client._log.watch import Seen, follow
from penstock_client.errors import InvalidArgument, LogRefused, PenstockError
from penstock_client.figures import printable

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group()
def audit() -> None:
    """Follow a server's audit log from another machine (auditors)."""


@audit.command()
@click.option(
    "--state",
    type=FILE,
    help="File for the last checkpoint [default: watch.json beside the client's checkpoints].",
)
@click.option("--key", help="The log's public key, as NAME+ID+BASE64 or in hexadecimal.")
@click.option(
    "--evidence", type=FOLDER, help="Folder for evidence of a fork [default: that of --state]."
)
@click.option("--cosign", type=FILE, help="Cosign checkpoints with the key in this file.")
@click.option(
    "--every",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--once", is_flag=True, help="Look once and exit, for cron.")
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
    """Follow the log's checkpoints, and report a fork.

    Each checkpoint is verified to continue the last one. After a fork the command saves both
    signed notes in a file and exits with code 5. If the server does not answer, the command tries
    again (with --once it exits with code 4). Without --key, the key of the first answer is used
    from then on.
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
@click.option(
    "--name", required=True, help="The cosigner's name, for example auditor.example.org/penstock."
)
def make_key(file: Path, name: str) -> None:
    """Create a cosigner's key in FILE, and print its public key.

    The server's operator adds the public key to PENSTOCK_COSIGNERS.
    """
    click.echo(Cosigner.create(file, name).vkey)


@audit.command("verify-report")
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option(
    "--key", required=True, help="The log's public key, as NAME+ID+BASE64 or in hexadecimal."
)
def verify_report(file: Path, key: str) -> None:
    """Verify an auditor's report in FILE (HTML, PDF or JSON), without the server.

    It verifies the signature of the facts, that of the page around them, and that of the checkpoint
    in them, and prints the facts. Take the key from a source that you trust, and not from the
    report.
    """
    public = _key(key)
    try:
        report = verify(file.read_bytes(), public)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise LogRefused(f"{file.name} is not verified: {problem}.") from problem
    facts = report.facts
    shown = "facts and page" if report.document else "facts"
    click.echo(f"verified: {shown}, signed by the log's key; facts {report.facts_sha256}")
    start = facts.get("start") or "the beginning of the log"
    click.echo(printable(f"dataset {facts.get('dataset')}, from {start} until {facts.get('end')}"))
    click.echo(
        f"{facts.get('releases')} releases to {facts.get('people')} people; log of"
        f" {report.checkpoint.size} leaves, root {report.checkpoint.root.hex()}"
    )


def _key(text: str) -> bytes:
    try:
        return key_of(text)
    except ValueError as problem:
        raise InvalidArgument(
            f"--key is not a log's public key: {problem}. The server's operator prints the key with"
            " `penstock audit checkpoint`."
        ) from problem


def _wait(seconds: float) -> bool:
    """Wait; return False, so that the monitor looks again."""
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
