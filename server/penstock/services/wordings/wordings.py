"""Change the texts for readers of datasets, queries and streams.

Every change is a new row and a leaf.  None of it touches a spec, a charge or a level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from sqlmodel import Session, col, func, select

from penstock.connectors.planning.refusals import refusal
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query, Wording
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.version_chains import versions_of
from penstock.services.schemas.wordings.wordings import FIELDS, WordingView, texts_of
from penstock.services.wordings.logged_wordings import record_wording
from penstock.services.wordings.stored import columns_of, of_dataset, of_query
from penstock.spec_fields import folded


def change(
    session: Session,
    server: Server,
    principal: Principal,
    subject: Dataset | Query,
    texts: Mapping[str, Any],
) -> WordingView:
    """Store the texts that are given, by their fields, and return all that hold now.

    Those that are the same as before change nothing and leave no leaf.  Call it in a transaction
    that writes alone, or that made the subject.  Raises ``InvalidInput`` for owners who are no
    users, and for owners other than themselves that an analyst names.
    """
    before = _present(session, subject)
    given = dict(texts)
    if "owners" in given:
        given["owners"] = _users(session, principal, given["owners"])
    after = replace(before, **given)
    changed = [name for name in FIELDS if getattr(after, name) != getattr(before, name)]
    if not changed:
        return before
    if isinstance(subject, Dataset):
        subject = versions_of(session, subject)[0]
        dataset_id, query_id = subject.id, None
    else:
        dataset_id, query_id = None, subject.id
    own = (
        col(Wording.dataset_id) == dataset_id
        if query_id is None
        else col(Wording.query_id) == query_id
    )
    last = session.exec(select(func.max(col(Wording.version))).where(own)).one() or 0
    now = server.clock()
    session.add(
        Wording(
            **columns_of(after),
            dataset_id=dataset_id,
            query_id=query_id,
            version=last + 1,
            at=now,
            by=principal.actor,
        )
    )
    record_wording(session, principal, subject, after, changed, now)
    return after


def _present(session: Session, subject: Dataset | Query) -> WordingView:
    if isinstance(subject, Dataset):
        return of_dataset(session, subject)
    return of_query(session, subject)


def settle(
    session: Session,
    server: Server,
    principal: Principal,
    subject: Dataset | Query,
    request: BaseModel,
    *,
    fresh: bool,
) -> WordingView:
    """Store the texts of what a request registers, and return those that hold.

    Unless the subject is ``fresh``, an earlier attempt registered it, whose texts hold if it gave
    any.  Raises as ``change`` does.
    """
    texts = texts_of(request)
    present = WordingView() if fresh else _present(session, subject)
    if not texts or present != WordingView():
        return present
    return change(session, server, principal, subject, texts)


def _users(session: Session, principal: Principal, names: Sequence[str]) -> list[str]:
    """Return the names of users as they are registered.  Raises ``InvalidInput``."""
    known = {folded(principal.name): principal.name} if principal.user_id is not None else {}
    if "admin" in principal.roles:
        sought = [folded(name) for name in names]
        users = session.exec(select(User).where(col(User.folded).in_(sought))).all()
        known.update({user.folded: user.name for user in users})
        problem = "There is no user of this name."
    else:
        problem = "You may name yourself as the owner, and nobody else."
    wrong = [
        (f"/owners/{place}", problem)
        for place, name in enumerate(names)
        if folded(name) not in known
    ]
    if wrong:
        raise refusal(wrong)
    return [known[folded(name)] for name in names]
