"""Run ``penstock request``: list, show, approve and decline what analysts request.

The operator decides as an admin does; under the two-person rule too, since the operator requests
nothing.
"""

from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import TierBudget, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import built, checked, content_of
from penstock.cli.statistics.queries import previewed
from penstock.figures import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.services.schemas.requests.views import RequestState, RequestView

STATES = click.Choice(["open", "approved", "declined", "withdrawn", "answered"])
LONGEST_CELL = 48
"""The most characters of a purpose in a table."""


@click.group()
def request() -> None:
    """List requests of analysts for queries, and decide about them."""


@request.command("list")
@option("--state", type=STATES, help="List only requests in this state.")
@format_option
@click.pass_obj
def listing(operator: Operator, state: "RequestState | None") -> None:
    """List requests, oldest first."""
    from penstock.services.requests import views

    shown = everything(
        lambda window: views.listing(operator.server, operator.principal, window, state)
    )
    columns = (
        *(Column("id"), Column("query"), Column("dataset"), Column("requested_by")),
        *(Column("requested_at"), Column("state"), Column("problem", _shortened)),
        Column("purpose", _shortened),
    )
    rows = [
        (
            *(view.id, view.query or view.name, view.dataset, _names(view)),
            *(view.requested_at, view.state, view.problem or "", view.purpose),
        )
        for view in shown
    ]
    operator.print(Document(shown, columns, rows, note="" if shown else "There are no requests."))


@request.command()
@click.argument("id")
@format_option
@click.pass_obj
def show(operator: Operator, id: str) -> None:  # noqa: A002 # the argument's name
    """Show request ID: who made it and what for, comments, and what approving it would charge."""
    from penstock.services.requests import views

    operator.print(_shown(views.show(operator.server, operator.principal, id)))


@request.command()
@click.argument("id")
@option(
    "--level",
    "levels",
    envvar="PENSTOCK_REQUEST_APPROVE_LEVEL",
    type=TierBudget(),
    multiple=True,
    metavar="TIER=EPSILON",
    help="The epsilon of a tier, in place of what was requested; for each tier.",
)
@option(
    "--levels",
    "file",
    envvar="PENSTOCK_REQUEST_APPROVE_LEVELS",
    metavar="FILE",
    help='A file with {"levels": {TIER: {...}}}, as JSON or TOML, in place of --level.',
)
@option("--name", help="The query's name, in place of the one requested.")
@option("--comment", help="A comment, which those who made the request read.")
@format_option
@click.pass_obj
def approve(
    operator: Operator,
    id: str,  # noqa: A002 # the argument's name
    levels: "tuple[tuple[str, float], ...]",
    file: str | None,
    name: str | None,
    comment: str | None,
) -> None:
    """Approve request ID and register its query.

    The decision and the charge are one: a refusal leaves the request open.  Then the data are read
    once; if that is interrupted, approve again, which charges nothing.  The query is visible at its
    levels to every tier from the lowest listed one on.  Exits with 3 if a budget does not allow it.
    """
    if levels and file is not None:
        raise click.UsageError("Name levels by --level, or by --levels FILE.")
    changes: dict[str, object] = {"levels": dict(levels)} if levels else {}
    if file is not None:
        changes = content_of(file, operator.settings.query_body_limit)
    given = {"name": name, "comment": comment}
    changes |= {field: text for field, text in given.items() if text is not None}
    operator.progress("Charging every tier, then reading the data once")
    _decide(operator, id, {**changes, "decision": "approve"})


@request.command()
@click.argument("id")
@option("--comment", help="The reason, which those who made the request read.")
@format_option
@click.pass_obj
def decline(operator: Operator, id: str, comment: str | None) -> None:  # noqa: A002 # the argument's name
    """Decline request ID; nothing is charged."""
    reason = {} if comment is None else {"comment": comment}
    _decide(operator, id, {**reason, "decision": "decline"})


@request.command("comment")
@click.argument("id")
@click.argument("text")
@format_option
@click.pass_obj
def add_comment(operator: Operator, id: str, text: str) -> None:  # noqa: A002 # the argument's name
    """Write TEXT to those who have request ID open."""
    from penstock.services.requests import comments
    from penstock.services.schemas.requests.specs import CommentRequest

    sent = built(CommentRequest, comment=text)
    operator.print(_shown(comments.comment(operator.server, operator.principal, id, sent)))


def _decide(operator: Operator, public_id: str, fields: dict[str, object]) -> None:
    from penstock.services.requests import decisions
    from penstock.services.schemas.requests.specs import DecisionRequest

    sent = checked(DecisionRequest, fields)
    view = decisions.decide(operator.server, operator.principal, public_id, sent)
    operator.print(_shown(view))


def _shown(view: "RequestView") -> Document:
    """Return a request's facts, one row for each person who made it, and its preview."""
    columns = (
        *(Column("user"), Column("tier"), Column("requested_at"), Column("withdrawn")),
        *(Column("sees_query"), Column("id"), Column("purpose", None)),
    )
    answered = view.query is not None or view.registered_as is not None
    rows = [
        (
            *(asker.user, asker.tier, asker.requested_at, asker.withdrawn),
            *(asker.sees_query if answered else None, asker.id, asker.purpose),
        )
        for asker in view.askers
    ]
    below = None if view.preview is None else previewed(view.preview)
    notes = [view.problem, below and below.note]
    return Document(
        *(view, columns, rows, list(_facts(view))),
        note=" ".join(note for note in notes if note),
        below=below,
    )


def _facts(view: "RequestView") -> "Iterator[str]":
    """Yield lines on a request: its state, what it is for, and the comments on it."""
    name = view.query or view.name
    yield f"{name} over {view.dataset}, version {view.dataset_version}, {view.state}"
    if view.decided_by is not None and view.decided_at is not None:
        yield f"  {view.state} by {view.decided_by}, {moment(view.decided_at)}"
    if view.state == "answered":
        yield "  registered meanwhile: nothing is left to decide"
    if view.registered_as is not None:
        yield f"  the same statistic as query {view.registered_as}"
    if view.state == "approved":
        hidden = [each.user for each in view.askers if not (each.sees_query or each.withdrawn)]
        yield from (f"  shown to {user} as declined: they cannot see the query" for user in hidden)
    for asker in view.askers:
        yield from _text_lines(asker.user, "what it is for", asker.purpose)
    for comment in view.comments:
        yield from _text_lines(comment.by, moment(comment.at), comment.comment)


def _text_lines(by: str, what: str, text: str) -> "Iterator[str]":
    yield f"  {by}, {what}:"
    yield from (f"    {line}" for line in text.splitlines())


def _names(view: "RequestView") -> list[str]:
    """Return who has the request open, or, if nobody has, who made it."""
    active = [asker.user for asker in view.askers if not asker.withdrawn]
    return active or list(dict.fromkeys(asker.user for asker in view.askers))


def _shortened(cell: object) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(str(cell).split())
    return line if len(line) <= LONGEST_CELL else f"{line[: LONGEST_CELL - 1].rstrip()}\u2026"
