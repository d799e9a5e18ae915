"""Define the tables, one class each, by subject.

* ``people``    tiers, users, their clearances and tokens, and their groups at a provider
* ``datasets``  datasets, their declarations, each tier's budget in them, and allowances
* ``queries``   queries, their levels, their releases, the users who hold them, and wordings
* ``ledger``    charges
* ``streams``   the state of streams, and their running totals
* ``log``       the leaves of the audit log, its tree, its checkpoints, who cosigned them
* ``decided``   proposals and requests, the decisions on them, and who is told of these
* ``idempotency``   requests that carried a key of their own
* ``sessions``    sessions of the pages, and what is accepted once
* ``jobs``      long tasks of a user, and schedules of such tasks
* ``columns``   types of columns, and the class of all tables
* ``secret_checks``  checks for the right secrets

The classes do not validate (SQLModel skips validation if ``table=True``): input models do so before
them, and CHECK constraints after them.  What is history is append-only, by triggers
(``penstock.persistence.append_only``): a change is a new version, never an update.

``mac`` is an HMAC of its row under a key that is not in the database
(``penstock.persistence.row_authentication``): in every table whose rows decide by
themselves what is permitted or was spent.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.persistence.tables.columns import metadata
    from penstock.persistence.tables.datasets import (
        Allowance,
        Dataset,
        FormerDeclaration,
        TierBudget,
    )
    from penstock.persistence.tables.decided.deliveries import Delivery, LogReader
    from penstock.persistence.tables.decided.proposals import Decision, Proposal
    from penstock.persistence.tables.decided.requests import (
        Asker,
        Request,
        RequestComment,
        RequestDecision,
        Withdrawal,
    )
    from penstock.persistence.tables.idempotency import Idempotency
    from penstock.persistence.tables.jobs import Occurrence, Schedule, Work
    from penstock.persistence.tables.ledger import AllowanceCharge, Charge, SpentFloor
    from penstock.persistence.tables.log import Checkpoint, Cosignature, Leaf, LogKey, TreeNode
    from penstock.persistence.tables.people import (
        Clearance,
        GroupMapping,
        Invitation,
        ProviderAccount,
        Tier,
        Token,
        User,
    )
    from penstock.persistence.tables.queries import (
        Edition,
        Grant,
        HistogramState,
        Query,
        QueryLevel,
        Release,
        Wording,
    )
    from penstock.persistence.tables.secret_checks import SecretCheck
    from penstock.persistence.tables.sessions import UsedOnce, WebSession
    from penstock.persistence.tables.streams import FedElement, StreamOutput, StreamState

__all__ = [
    "Allowance",
    "AllowanceCharge",
    "Asker",
    "Charge",
    "Checkpoint",
    "Clearance",
    "Cosignature",
    "Dataset",
    "Decision",
    "Delivery",
    "Edition",
    "FedElement",
    "FormerDeclaration",
    "Grant",
    "GroupMapping",
    "HistogramState",
    "Idempotency",
    "Invitation",
    "Leaf",
    "LogKey",
    "LogReader",
    "Occurrence",
    "Proposal",
    "ProviderAccount",
    "Query",
    "QueryLevel",
    "Release",
    "Request",
    "RequestComment",
    "RequestDecision",
    "Schedule",
    "SecretCheck",
    "SpentFloor",
    "StreamOutput",
    "StreamState",
    "Tier",
    "TierBudget",
    "Token",
    "TreeNode",
    "UsedOnce",
    "User",
    "WebSession",
    "Withdrawal",
    "Wording",
    "Work",
    "metadata",
]

_SUBJECTS = (
    *("columns", "people", "datasets", "queries", "ledger", "streams", "log", "idempotency"),
    *(
        "decided.proposals",
        "decided.requests",
        "decided.deliveries",
        "sessions",
        "jobs",
        "secret_checks",
    ),
)


def __getattr__(name: str) -> object:
    """Define all tables when the first, or their metadata, is taken from here.

    Defining one takes milliseconds, which a command need not spend on tables that it does not use:
    the server imports each from its own module.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for subject in _SUBJECTS:
        module = vars(import_module(f"{__name__}.{subject}"))
        globals().update({item: module[item] for item in __all__ if item in module})
    return globals()[name]
