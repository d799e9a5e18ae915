"""Run ``penstock keys``: show, rotate and destroy keys and secrets."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.services.operations.key_rotation import KeysView, RetiredKeyView
    from penstock.services.operations.secret_rotation import PeppersView

LONGEST_REQUEST = 60
"""Seconds after which gunicorn kills a worker that does not answer."""


@click.group()
def keys() -> None:
    """Show, rotate and drop keys and secrets."""


@keys.command("status")
@format_option
@click.pass_obj
def show_keys(operator: Operator) -> None:
    """Show the name of the key of each dataset.  A key itself is never shown."""
    from penstock.services.operations import key_rotation as services

    operator.print(_document(services.show(operator.server, operator.principal)))


@keys.command()
@format_option
@click.pass_obj
def rotate(operator: Operator) -> None:
    """Replace every key by a new one.

    The server may keep running.  No request fails during the rotation, and earlier
    backups still open: the old keys are retired and kept until `penstock keys drop`.  After an
    interruption, run the command again to continue.
    """
    from penstock.services.operations import key_rotation as services

    operator.print(_document(services.rotate(operator.server, operator.principal)))


@keys.command()
@click.argument("key", nargs=-1)
@option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="Backup that must still open; may be repeated.",
)
@option("--yes", is_flag=True, help="Do it; without this, only show what would be done.")
@option(
    "--wait",
    type=click.FloatRange(min=0),
    default=LONGEST_REQUEST,
    show_default=True,
    help="Seconds before the keys are destroyed, longer than any request takes.",
)
@format_option
@click.pass_obj
def drop(
    operator: Operator, key: tuple[str, ...], keep: tuple[Path, ...], yes: bool, wait: float
) -> None:
    """Destroy retired keys, those named KEY or all.

    Earlier backups can then never be opened.  Keys that a backup named by --keep needs are
    kept.  Keys in use are never destroyed.
    """
    from penstock.services.operations import retired_keys as services

    retired_keys = services.droppable(operator.server, operator.principal, key, keep)
    if not yes:
        operator.print(_retired(retired_keys))
        return

    def pause() -> None:
        operator.say(f"In {wait:g} seconds {counted(len(retired_keys), 'key')} will be destroyed.")
        time.sleep(wait)

    operator.print(
        _document(services.drop(operator.server, operator.principal, retired_keys, pause))
    )


@keys.command("rotate-secret")
@click.argument("name", type=click.Choice(["pepper", "fingerprint", "values"]))
@format_option
@click.pass_obj
def rotate_secret(operator: Operator, name: str) -> None:
    """Replace the secret NAME by a new value.

    The server may keep running.  The pepper digests tokens: no user is signed out, and each token
    moves to the new value when it is next used.  The fingerprint digests files, exact answers and
    requests: new ones use the new value.  The values key signs rows, and released values in the
    log: every row is signed again.  The earlier value is retired and kept.  secrets.json is
    rewritten: copy it.  After an interruption, run the command again to continue.
    """
    from penstock.services.operations import digest_rotation, secret_rotation

    if name == "pepper":
        operator.print(_peppers(secret_rotation.rotate(operator.server, operator.principal)))
        return
    rotation = {
        "fingerprint": digest_rotation.rotate_fingerprint,
        "values": digest_rotation.rotate_values,
    }[name]
    rotated = rotation(operator.server, operator.principal)
    rows = [(rotated.name, rotated.newest, rotated.retired)]
    columns = (Column("secret"), Column("newest", right=True), Column("retired", right=True))
    operator.print(
        Document(rotated, columns, rows, note="Copy secrets.json: backups from now on need it.")
    )


@keys.command("drop-secret")
@click.argument("name", type=click.Choice(["pepper"]))
@option("--yes", is_flag=True, help="Do it; without this, only show what would be done.")
@format_option
@click.pass_obj
def drop_secret(operator: Operator, name: str, yes: bool) -> None:  # noqa: ARG001 - there is one
    """Destroy the retired values of the secret NAME.

    Tokens that depend on them are revoked.  Backups from before the rotation can then never be
    opened.
    """
    from penstock.services.operations import secret_rotation as services

    if yes:
        operator.print(_peppers(services.drop(operator.server, operator.principal)))
    else:
        operator.print(_peppers(services.show(operator.server, operator.principal)))


def _peppers(peppers: "PeppersView") -> Document:
    columns = (Column("pepper", right=True), Column("state"), Column("valid tokens", right=True))
    rows = [
        (pepper.number, "retired" if pepper.retired else "newest", pepper.tokens)
        for pepper in peppers.peppers
    ]
    dependent = sum(pepper.tokens for pepper in peppers.peppers if pepper.retired)
    note = "No pepper is retired."
    if len(peppers.peppers) > 1:
        note = (
            f"{counted(dependent, 'valid token')} not used since the rotation."
            " `penstock keys drop-secret pepper --yes` revokes these and destroys retired peppers;"
            " backups from before the rotation can then never be opened."
        )
    return Document(peppers, columns, rows, note=note)


def _document(view: "KeysView") -> Document:
    columns = (Column("dataset"), Column("version", right=True), Column("key"))
    rows = [(used.dataset, used.version, used.key or "shredded") for used in view.used]
    note = f"Provider {view.provider}, {counted(view.keys, 'key')}."
    if view.retired:
        note += (
            f" {counted(len(view.retired), 'retired key')} kept for backups made before the last"
            " rotation: make a new backup, and drop them with `penstock keys drop` when no earlier"
            " backup is needed any more."
        )
    below = _retired(view.retired) if view.retired else None
    return Document(view, columns, rows, note=note, below=below)


def counted(number: int, what: str) -> str:
    """Return a number with its noun: ``1 key``, ``2 keys``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _retired(retired_keys: "Sequence[RetiredKeyView]") -> Document:
    columns = (Column("retired key"), Column("dataset"), Column("version", right=True))
    rows = [(key.key, key.dataset or "the log or all", key.version or "") for key in retired_keys]
    note = (
        "Backups that need these keys could never be opened again. Name backups that must still"
        " open with --keep, and confirm with --yes."
        if retired_keys
        else "There is no retired key to drop, apart from those that the backups of --keep need."
    )
    return Document(list(retired_keys), columns, rows, note=note)
