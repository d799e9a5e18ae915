"""``penstock keys``: the provider's keys, and new ones in their place."""

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
"""Seconds after which gunicorn ends a worker that does not answer."""


@click.group()
def keys() -> None:
    """The keys that wrap all others."""


@keys.command("status")
@format_option
@click.pass_obj
def show_keys(operator: Operator) -> None:
    """Show which key keeps which dataset.  Names only: a key never shows itself."""
    from penstock.services.operations import key_rotation as services

    operator.print(_document(services.show(operator.server, operator.principal)))


@keys.command()
@format_option
@click.pass_obj
def rotate(operator: Operator) -> None:
    """Put a new key in the place of each, while the server runs.

    No request fails meanwhile, and backups that were made before still open: the old keys are
    retired and kept, until `penstock keys drop`.  Run again after an interruption, it goes on.
    """
    from penstock.services.operations import key_rotation as services

    operator.print(_document(services.rotate(operator.server, operator.principal)))


@keys.command()
@click.argument("key", nargs=-1)
@option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="A backup that must still open; may be repeated.",
)
@option("--yes", is_flag=True, help="Do it; without this it is only said what would be done.")
@option(
    "--wait",
    type=click.FloatRange(min=0),
    default=LONGEST_REQUEST,
    show_default=True,
    help="Seconds before the keys are destroyed: longer than any request takes.",
)
@format_option
@click.pass_obj
def drop(
    operator: Operator, key: tuple[str, ...], keep: tuple[Path, ...], yes: bool, wait: float
) -> None:
    """Destroy retired keys, those named KEY or all, so that earlier backups open never again.

    A key that a backup of --keep needs stays.  Keys that are in use are no retired ones.
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
    """Put a new value in the place of the secret NAME, while the server runs.

    The pepper is what tokens are digested under: nobody is signed out, and every token moves to the
    new one when it is next used. The fingerprint is what files, exact answers and requests are: new
    ones are under the new value. Values are what rows are signed under, and released values in the
    log: every row is signed anew. What was there before is kept, retired. Copy secrets.json, which
    is written anew. Run again after an interruption, it goes on.
    """
    from penstock.services.operations import digest_rotation, secret_rotation

    if name == "pepper":
        operator.print(_peppers(secret_rotation.rotate(operator.server, operator.principal)))
        return
    act = {
        "fingerprint": digest_rotation.rotate_fingerprint,
        "values": digest_rotation.rotate_values,
    }[name]
    rotated = act(operator.server, operator.principal)
    rows = [(rotated.name, rotated.newest, rotated.retired)]
    columns = (Column("secret"), Column("newest", right=True), Column("retired", right=True))
    operator.print(
        Document(rotated, columns, rows, note="Copy secrets.json; backups need the one of now.")
    )


@keys.command("drop-secret")
@click.argument("name", type=click.Choice(["pepper"]))
@option("--yes", is_flag=True, help="Do it; without this it is only said what would be done.")
@format_option
@click.pass_obj
def drop_secret(operator: Operator, name: str, yes: bool) -> None:  # noqa: ARG001 - there is one
    """Destroy the retired values of the secret NAME, and revoke the tokens that rest on them.

    Backups from before the rotation open never again.
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
    resting = sum(pepper.tokens for pepper in peppers.peppers if pepper.retired)
    note = "No pepper is retired."
    if len(peppers.peppers) > 1:
        note = (
            f"{counted(resting, 'valid token')} not used since the rotation."
            " `penstock keys drop-secret pepper --yes` revokes these and destroys what is retired;"
            " backups from before the rotation open never again then."
        )
    return Document(peppers, columns, rows, note=note)


def _document(view: "KeysView") -> Document:
    columns = (Column("dataset"), Column("version", right=True), Column("key"))
    rows = [(used.dataset, used.version, used.key or "shredded") for used in view.used]
    note = f"Provider {view.provider}, {counted(view.keys, 'key')}."
    if view.retired:
        note += (
            f" {counted(len(view.retired), 'retired key')} kept for backups made before the last"
            " rotation: take a new backup, and drop them with `penstock keys drop` when no earlier"
            " one is wanted any more."
        )
    below = _retired(view.retired) if view.retired else None
    return Document(view, columns, rows, note=note, below=below)


def counted(number: int, what: str) -> str:
    """A number of things: ``1 key``, ``2 keys``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _retired(retired_keys: "Sequence[RetiredKeyView]") -> Document:
    columns = (Column("retired key"), Column("dataset"), Column("version", right=True))
    rows = [(key.key, key.dataset or "the log or all", key.version or "") for key in retired_keys]
    note = (
        "Backups that need them would never open again. Say which must, by --keep, and that it is"
        " meant, by --yes."
        if retired_keys
        else "No key is retired that no such backup needs."
    )
    return Document(list(retired_keys), columns, rows, note=note)
