"""Compare the tables with the leaves of the audit log, subject by subject.

Every change of a subject has a leaf that records its result.  So a row without a leaf was added
outside of the server, and a leaf without its row means that the row was removed.  Each subject
reads the leaves that its own room writes (``LoggedSubject``).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from sqlmodel import Session, col, select

from penstock.persistence.tables.log import Leaf
from penstock.services.allowances.logged_allowances import LoggedAllowances
from penstock.services.approvals.logged_proposals import LoggedProposals
from penstock.services.audit.logged_restores import LoggedRestores
from penstock.services.datasets.logged_datasets import LoggedDatasets
from penstock.services.ledger.logged_budgets import LoggedBudgets
from penstock.services.ledger.logged_levels import LoggedLevels
from penstock.services.people.logged_tiers import LoggedTiers
from penstock.services.people.logged_tokens import LoggedTokens
from penstock.services.people.logged_users import LoggedUsers
from penstock.services.releases.logged_queries import LoggedQueries
from penstock.services.requests.logged_requests import LoggedRequests
from penstock.services.schedules.logged_schedules import LoggedSchedules
from penstock.services.sign_on.logged_invitations import LoggedInvitations
from penstock.services.sign_on.logged_mappings import LoggedMappings
from penstock.services.wordings.logged_wordings import LoggedWordings
from penstock.transparency_log.logged_subject import LoggedSubject
from penstock.transparency_log.sights import Sight

SUBJECTS: Final[Sequence[Callable[[], LoggedSubject]]] = (
    LoggedTiers,
    LoggedUsers,
    LoggedMappings,
    LoggedInvitations,
    LoggedTokens,
    LoggedDatasets,
    LoggedBudgets,
    LoggedAllowances,
    LoggedLevels,
    LoggedRestores,
    LoggedProposals,
    LoggedQueries,
    LoggedSchedules,
    LoggedRequests,
    LoggedWordings,
)


def differences(session: Session, seen: Sight) -> Iterator[str]:
    """Yield one message per disagreement of the tables with the log.

    ``seen`` is what the witness kept, read before the session began: what others write meanwhile
    would look like a loss.
    """
    subjects = [make() for make in SUBJECTS]
    # A leaf without an index yet comes after those that have one.
    rows = session.exec(
        select(Leaf.bytes).order_by(col(Leaf.index).is_(None), col(Leaf.index), col(Leaf.id))
    )
    for content in rows:
        with suppress(ValueError):  # not JSON: verification reports it
            leaf = json.loads(content)
            for subject in subjects:
                with suppress(ValueError, TypeError, KeyError):  # not a leaf that a server wrote
                    subject.take(leaf)
    for subject in subjects:
        yield from subject.differences(session, seen)
