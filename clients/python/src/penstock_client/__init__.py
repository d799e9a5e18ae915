"""Query a Penstock server from Python, in a notebook or on the command line.

- ``client``: ``Client``, with one method for each operation.
- ``admin``: ``Admin``, with what admins and auditors do besides.
- ``release``: releases; ``_values`` has their confidence intervals.
- ``derived``: totals, differences, ratios and shares of released values, with intervals.
- ``dummy``: made-up rows of a dataset, or of a release.
- ``questions``: questions in SQL or from a table: their cost, registration, requests, results.
- ``tables``: ``col``, ``count`` and the other parts of a question that is written in Python.
- ``lomas``: what runs notebooks that were written for lomas; ``lomas_names``: its names for
  methods of ``Client``.
- ``queries``, ``preview``: queries, and what one would cost.
- ``streams``, ``stream_preview``: running totals, pushed elements, and what a
  stream would cost.
- ``models``: the other answers of the server.
- ``offline``: a program that verifies an export of the log without the server.
- ``figures``: numbers and texts as people read them; it is the server's file.
- ``errors``: all errors that this package raises.
- ``command``: the ``penstock-client`` program; ``_commands`` has its larger commands.
- ``_http``: sends requests and reads answers.
- ``_log``: verifies the server's audit log.
- ``_show``: tables, notebooks and data frames.
"""

from penstock_client._http.version import __version__
from penstock_client._log.notes import Checkpoint
from penstock_client._show.figures import Figure
from penstock_client._show.listing import Listing
from penstock_client._values.estimates import Distribution, Estimate
from penstock_client._values.interval import Interval
from penstock_client._values.marginals import Marginal
from penstock_client._values.value_errors import ValueErrors
from penstock_client.admin.client import Admin
from penstock_client.admin.models import (
    Event,
    Invitation,
    IssuedInvitation,
    IssuedToken,
    Proposal,
    Schedule,
    Tier,
    Token,
    User,
)
from penstock_client.admin.proofs import InclusionProof
from penstock_client.client import Client
from penstock_client.derived import Derived, DerivedValues
from penstock_client.dummy import Dummy, Fit, SyntheticRows
from penstock_client.errors import (
    ApiError,
    BudgetExhausted,
    ClearanceTooLow,
    Conflict,
    CovarianceUnknown,
    Forbidden,
    InvalidArgument,
    InvalidField,
    InvalidInput,
    LogForked,
    LogRefused,
    MissingExtra,
    NestedNoise,
    NotAuthenticated,
    NotDrawable,
    NotFound,
    NotReachable,
    NotRegistered,
    PenstockError,
    Proposed,
    ProtocolError,
    TooManyRequests,
    Unavailable,
)
from penstock_client.models import (
    Budget,
    Dataset,
    ErrorBars,
    ExposedQuery,
    Exposure,
    Guarantee,
    HistoryItem,
    Level,
    Me,
    MeanParts,
    PrivacyLoss,
    Reach,
    Receipt,
    Spending,
    TierBudget,
)
from penstock_client.preview import Charge, Preview, Room, Strategy, StrategyError, TierPreview
from penstock_client.queries import Query, TierLevel
from penstock_client.questions.allowances import Allowance, AllowanceRoom
from penstock_client.questions.cost import Cost
from penstock_client.questions.question import Question
from penstock_client.questions.requests import Comment, Request
from penstock_client.questions.result import Result, Row
from penstock_client.release import Release
from penstock_client.stream_preview import (
    StepError,
    StreamNoise,
    StreamPreview,
    StreamTierPreview,
    Structure,
    StructureError,
)
from penstock_client.streams import Pushed, RunningTotal, RunningTotals, Stream, StreamTier
from penstock_client.tables.aggregates import (
    correlation,
    count,
    count_units,
    covariance,
)
from penstock_client.tables.conditions import Condition
from penstock_client.tables.expressions import Aggregate, Bins, Expression, case, col, lit
from penstock_client.tables.table import Table

__all__ = [
    "Admin",
    "Aggregate",
    "Allowance",
    "AllowanceRoom",
    "ApiError",
    "Bins",
    "Budget",
    "BudgetExhausted",
    "Charge",
    "Checkpoint",
    "ClearanceTooLow",
    "Client",
    "Comment",
    "Condition",
    "Conflict",
    "Cost",
    "CovarianceUnknown",
    "Dataset",
    "Derived",
    "DerivedValues",
    "Distribution",
    "Dummy",
    "ErrorBars",
    "Estimate",
    "Event",
    "ExposedQuery",
    "Exposure",
    "Expression",
    "Figure",
    "Fit",
    "Forbidden",
    "Guarantee",
    "HistoryItem",
    "InclusionProof",
    "Interval",
    "InvalidArgument",
    "InvalidField",
    "InvalidInput",
    "Invitation",
    "IssuedInvitation",
    "IssuedToken",
    "Level",
    "Listing",
    "LogForked",
    "LogRefused",
    "Marginal",
    "Me",
    "MeanParts",
    "MissingExtra",
    "NestedNoise",
    "NotAuthenticated",
    "NotDrawable",
    "NotFound",
    "NotReachable",
    "NotRegistered",
    "PenstockError",
    "Preview",
    "PrivacyLoss",
    "Proposal",
    "Proposed",
    "ProtocolError",
    "Pushed",
    "Query",
    "Question",
    "Reach",
    "Receipt",
    "Release",
    "Request",
    "Result",
    "Room",
    "Row",
    "RunningTotal",
    "RunningTotals",
    "Schedule",
    "Spending",
    "StepError",
    "Strategy",
    "StrategyError",
    "Stream",
    "StreamNoise",
    "StreamPreview",
    "StreamTier",
    "StreamTierPreview",
    "Structure",
    "StructureError",
    "SyntheticRows",
    "Table",
    "Tier",
    "TierBudget",
    "TierLevel",
    "TierPreview",
    "Token",
    "TooManyRequests",
    "Unavailable",
    "User",
    "ValueErrors",
    "__version__",
    "case",
    "col",
    "correlation",
    "count",
    "count_units",
    "covariance",
    "lit",
]
