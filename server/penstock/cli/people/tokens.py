"""Run ``penstock token``: create, list and revoke the tokens that users sign in with."""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document, Format
from penstock.cli.people.users import ROLES
from penstock.cli.specs import built
from penstock.figures import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.services.schemas.people.views import IssuedTokenView, TokenView


@click.group()
def token() -> None:
    """Create, list and revoke tokens, which users sign in with."""


@token.command()
@click.argument("name")
@option("--expires", metavar="TIME", help="Time until it expires, like 30d, 12h, 15m or 90s.")
@option("--scope", type=ROLES, multiple=True, help="Restrict it to this role; may be repeated.")
@format_option
@click.pass_obj
def create(operator: Operator, name: str, expires: str | None, scope: tuple[str, ...]) -> None:
    """Create a token for the user NAME and print it.

    It is shown only once.  A token that the operator creates ends only by its own time; tokens that
    its user creates with it end with it.  In the table format only the token is printed, for use in
    scripts.
    """
    from penstock.services.people import tokens
    from penstock.services.schemas.people.tokens import TokenSpec

    spec = built(TokenSpec, expires_in=expires, scopes=list(dict.fromkeys(scope)) or None)
    issued = tokens.issue(operator.server, operator.principal, name, spec)
    if operator.form is not Format.TABLE:
        operator.print(_issued(issued))
        return
    click.echo(issued.token)
    operator.say(
        f"Token {issued.prefix} of {issued.user} ({', '.join(issued.scopes)}), valid until"
        f" {moment(issued.expires)}. It is shown only once."
    )


@token.command("list")
@click.argument("name")
@format_option
@click.pass_obj
def listing(operator: Operator, name: str) -> None:
    """List the tokens of the user NAME, without their secrets."""
    from penstock.services.people import tokens

    views = everything(
        lambda window: tokens.listing(operator.server, operator.principal, name, window)
    )
    operator.print(_document(views, views, "" if views else f"{name} has no tokens."))


@token.command()
@click.argument("name")
@click.argument("prefix")
@format_option
@click.pass_obj
def revoke(operator: Operator, name: str, prefix: str) -> None:
    """Revoke the token pst_PREFIX... of the user NAME.

    It ends at once.  Tokens that were created with it, also for other users, are revoked as well.
    """
    from penstock.services.people import tokens

    changed = tokens.revoke(operator.server, operator.principal, name, prefix)
    note = (
        f"Created with it and revoked as well: {', '.join(changed.also)}." if changed.also else ""
    )
    operator.print(_document([changed], changed, note))


def _document(tokens: "Sequence[TokenView]", answer: object, note: str = "") -> Document:
    columns = (
        *(Column("prefix"), Column("user"), Column("scopes")),
        *(Column("created"), Column("expires"), Column("revoked"), Column("made with")),
    )
    rows = [
        (view.prefix, view.user, view.scopes, view.created, view.expires, view.revoked, view.parent)
        for view in tokens
    ]
    return Document(answer, columns, rows, note=note)


def _issued(issued: "IssuedTokenView") -> Document:
    columns = (
        *(Column("token"), Column("prefix"), Column("user")),
        *(Column("scopes"), Column("expires")),
    )
    row = (issued.token, issued.prefix, issued.user, issued.scopes, issued.expires)
    return Document(issued, columns, [row])
