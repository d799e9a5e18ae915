"""Run ``penstock-client request``: see what became of requests, comment on them, withdraw them."""

import click

from penstock_client._commands.settings import Settings, format_option
from penstock_client.questions import documents

STATES = click.Choice(["open", "approved", "declined", "withdrawn", "answered"])


@click.group()
def request() -> None:
    """Show the requests that you sent, comment on them, and withdraw them.

    `penstock-client sql --request` sends one.
    """


@request.command("list")
@click.option("--state", show_envvar=True, type=STATES, help="List only requests in this state.")
@format_option
@click.pass_obj
def list_requests(settings: Settings, state: str | None) -> None:
    """List your requests; for administrators, everybody's."""
    with settings.connect() as client:
        settings.print(documents.requests(client.requests(state)))


@request.command()
@click.argument("id")
@format_option
@click.pass_obj
def show(settings: Settings, id: str) -> None:  # noqa: A002 # the argument's name
    """Show the request ID with its comments."""
    with settings.connect() as client:
        settings.print(documents.request_status(client.request_status(id)))


@request.command()
@click.argument("id")
@click.argument("text")
@format_option
@click.pass_obj
def comment(settings: Settings, id: str, text: str) -> None:  # noqa: A002 # the argument's name
    """Write TEXT to the administrators about your request ID."""
    with settings.connect() as client:
        settings.print(documents.request_status(client.comment_on_request(id, text)))


@request.command()
@click.argument("id")
@format_option
@click.pass_obj
def withdraw(settings: Settings, id: str) -> None:  # noqa: A002 # the argument's name
    """Withdraw your request ID, unless it is decided."""
    with settings.connect() as client:
        settings.print(documents.request_status(client.withdraw_request(id)))
