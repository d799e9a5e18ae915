"""Write the leaves of wordings, and compare their table with what the log has.

A leaf holds a hash of all texts, and the names of those that changed, since texts may be long.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query, Wording
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.schemas.wordings.wordings import WordingView
from penstock.services.wordings.stored import view_of
from penstock.transparency_log.leaves import canonical
from penstock.transparency_log.logged_subject import LeafFields, name_of, versions
from penstock.transparency_log.sights import Sight


def digest(wording: WordingView) -> str:
    """Return the SHA-256 of all texts, as canonical JSON by the names of their fields."""
    return hashlib.sha256(canonical(vars(wording))).hexdigest()


def record_wording(
    session: Session,
    principal: Principal,
    subject: Dataset | Query,
    wording: WordingView,
    changed: Sequence[str],
    at: datetime,
) -> None:
    """Append the leaf of texts that changed; a dataset's are those of its first ``version``."""
    if isinstance(subject, Dataset):
        dataset, query, version = subject, None, subject.version
    else:
        dataset = session.get_one(Dataset, subject.dataset_id)
        query, version = subject, None
    record(
        session,
        principal,
        "wording",
        at,
        dataset=dataset,
        query=query,
        version=version,
        changed=changed,
        wording_sha256=digest(wording),
    )


class LoggedWordings:
    """Hold the hashes of all texts that the log has, of each dataset and query."""

    def __init__(self) -> None:
        self._wordings = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a wording."""
        if leaf["kind"] != "wording":
            return
        about = (leaf["query"],) if "query" in leaf else (leaf["dataset"], str(leaf["version"]))
        self._wordings[about].append((leaf["wording_sha256"], leaf["actor"]))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield a message where texts differ."""
        stored = versions()
        statement = (
            select(Wording, Dataset, Query)
            .outerjoin(Dataset, col(Wording.dataset_id) == col(Dataset.id))
            .outerjoin(Query, col(Wording.query_id) == col(Query.id))
            .order_by(col(Wording.version))
        )
        for row, dataset, query in session.exec(statement).all():
            about = [name_of(query)] if row.query_id else [dataset.name, str(dataset.version)]
            stored[tuple(about)].append((digest(view_of(row)), row.by))
        if stored != self._wordings:
            yield "the titles and other texts for readers are not those of the log"
