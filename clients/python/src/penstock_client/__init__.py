"""Python client of a Penstock server.

- ``client``: ``Client``, one method for each thing to ask.
- ``release``: what a release holds; ``_values`` says how far off it may be.
- ``dummy``: made-up rows of a dataset.
- ``queries``, ``preview``: queries, and what one would cost.
- ``streams``, ``stream_preview``: running totals, the elements that they are
  of, and what a stream would cost.
- ``models``: everything else that the server answers with.
- ``offline``: a program that verifies an export of the log, without the server.
- ``errors``: the one tree of errors.
- ``command``: the ``penstock-client`` program.
- ``_http``: requests, and the reading of answers.
- ``_log``: what is remembered of a server's log, and its proofs.
- ``_show``: tables, notebooks and data frames.
"""

from penstock_client._http.version import __version__
from penstock_client._log.notes import Checkpoint
from penstock_client._values.interval import Interval
from penstock_client._values.value_errors import ValueErrors
from penstock_client.client import Client
from penstock_client.dummy import Dummy
from penstock_client.errors import (
    ApiError,
    BudgetExhausted,
    ClearanceTooLow,
    Conflict,
    Forbidden,
    InvalidArgument,
    InvalidField,
    InvalidInput,
    LogForked,
    LogRefused,
    MissingExtra,
    NotAuthenticated,
    NotFound,
    NotReachable,
    PenstockError,
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
from penstock_client.preview import Charge, Preview, Room, TierPreview
from penstock_client.queries import Query, TierLevel
from penstock_client.release import Release
from penstock_client.stream_preview import (
    StepError,
    StreamPreview,
    StreamTierPreview,
    Structure,
    StructureError,
)
from penstock_client.streams import Pushed, RunningTotal, RunningTotals, Stream, StreamTier

__all__ = [
    "ApiError",
    "Budget",
    "BudgetExhausted",
    "Charge",
    "Checkpoint",
    "ClearanceTooLow",
    "Client",
    "Conflict",
    "Dataset",
    "Dummy",
    "ErrorBars",
    "ExposedQuery",
    "Exposure",
    "Forbidden",
    "Guarantee",
    "HistoryItem",
    "Interval",
    "InvalidArgument",
    "InvalidField",
    "InvalidInput",
    "Level",
    "LogForked",
    "LogRefused",
    "Me",
    "MeanParts",
    "MissingExtra",
    "NotAuthenticated",
    "NotFound",
    "NotReachable",
    "PenstockError",
    "Preview",
    "PrivacyLoss",
    "ProtocolError",
    "Pushed",
    "Query",
    "Reach",
    "Receipt",
    "Release",
    "Room",
    "RunningTotal",
    "RunningTotals",
    "Spending",
    "StepError",
    "Stream",
    "StreamPreview",
    "StreamTier",
    "StreamTierPreview",
    "Structure",
    "StructureError",
    "TierBudget",
    "TierLevel",
    "TierPreview",
    "TooManyRequests",
    "Unavailable",
    "ValueErrors",
    "__version__",
]
