"""Python client of a Penstock server.

- ``client``: ``Client``, one method for each thing to ask.
- ``release``, ``interval``, ``value_errors``: what a release holds, and how far off it may be.
- ``frames``, ``dummy``: releases, totals and made-up rows as tables of pandas, polars and
  Arrow.
- ``queries``, ``preview``: queries, and what one would cost.
- ``streams``, ``pushing``, ``stream_preview``: running totals, the elements that they are
  of, and what a stream would cost.
- ``models``: everything else that the server answers with.
- ``log``, ``notes``, ``tree``, ``ed25519``: what is remembered of a server's log, and its proofs.
- ``watch``, ``cosigning``: a monitor that follows a log, tells of a fork, and cosigns.
- ``offline``: a program that verifies an export of the log, without the server.
- ``errors``: the one tree of errors.
- ``transport``, ``address``, ``problems``, ``fields``, ``nesting``: HTTP, which servers a
  token may be sent to, refusals, and the reading of answers.
- ``notebook``, ``svg``, ``rounding``: how things look.
- ``command``, ``audit_command``, ``documents``, ``stream_documents``, ``output``: the
  ``penstock-client`` program.
"""

from penstock_client._log.notes import Checkpoint
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
from penstock_client.interval import Interval
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
from penstock_client.value_errors import ValueErrors

__version__ = "0.1.0"

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
