"""Turn costs, results and requests into columns and rows for the command line."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from penstock_client._show import documents
from penstock_client._show.output import Column, Document
from penstock_client._show.rounding import short
from penstock_client.queries import Query
from penstock_client.questions.allowances import Allowance, percentage
from penstock_client.questions.cost import Cost
from penstock_client.questions.requests import Request
from penstock_client.questions.result import Result


def cost(answer: Cost) -> Document:
    """Return what a question would cost, with one row for each tier, and whether it can be paid."""
    left = [
        f"  left of the budget of {tier.tier}: epsilon {short(remaining.epsilon)}"
        for tier in answer.tiers
        if (remaining := answer.remaining(tier.tier)) is not None
    ]
    document = documents.preview(answer.preview)
    note = "\n".join((answer.headline(), *answer.notes))
    return replace(document, facts=(*document.facts, *left), note=note)


def allowances(answers: Sequence[Allowance]) -> Document:
    """Return allowances, with one row for each tier."""
    columns = (
        *(Column("tier"), Column("epsilon", _figure, right=True), Column("users")),
        *(Column("left", documents.share, right=True), Column("spent_by")),
    )
    rows = [
        (
            each.tier,
            each.epsilon,
            "all" if each.users is None else ", ".join(each.users),
            each.remaining_share,
            ", ".join(f"{part.query} {percentage(part.share)}" for part in each.queries),
        )
        for each in answers
    ]
    notes = [f"{each.tier}: {note}" for each in answers for note in each.notes]
    note = "\n".join(notes) if answers else "There are no allowances that you may see."
    return Document([each.answer for each in answers], columns, rows, note=note)


def registered(answer: Query) -> Document:
    """Return a query, with one row for each tier."""
    return replace(documents.queries([answer]), answer=answer.answer)


def request(answer: Request) -> Document:
    """Return a request that was just sent, as one row."""
    row = _request_row(answer)
    return Document(answer.answer, _REQUEST, [row], note="The admins see the request.")


def requests(answers: Sequence[Request]) -> Document:
    """Return requests, with one row for each."""
    rows = list(map(_request_row, answers))
    note = "" if answers else "There are no requests."
    return Document([answer.answer for answer in answers], _REQUEST, rows, note=note)


def request_status(answer: Request) -> Document:
    """Return a request as one row, and the comments on it above."""
    facts = [
        line
        for comment in answer.comments
        for line in (f"{comment.by}, {comment.at:%Y-%m-%d %H:%M}Z:", *_indented(comment.text))
    ]
    note = answer.problem or ""
    return Document(answer.answer, _REQUEST, [_request_row(answer)], facts, note=note)


def _request_row(answer: Request) -> tuple[object, ...]:
    return answer.id, answer.name, answer.state, answer.query, answer.purpose


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


_REQUEST = (Column("id"), *(Column(name) for name in ("name", "state", "query", "purpose")))


def result(answer: Result) -> Document:
    """Return a result, with one row for each number; a blank stands for too much noise."""
    columns = (
        *(Column(name) for name in answer.groups),
        Column("statistic"),
        *(Column(name, _figure, right=True) for name in ("value", "lower", "upper")),
    )
    rows = [(*row.group, row.statistic, row.value, row.lower, row.upper) for row in answer]
    facts = (answer.release.query, *(f"  {line}" for line in answer.release.caption()))
    return Document(answer.release.answer, columns, rows, facts)


def _figure(cell: object) -> str:
    return short(cast("float | None", cell), 5)
