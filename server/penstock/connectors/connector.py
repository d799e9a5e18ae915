"""State what an engine must offer so that data are read with it."""

from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.plan import Plan
from penstock.connectors.progress import Progress
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements.statement import Statement


class Snapshot(StrEnum):
    """How what was registered is recognized when it is read again.

    ``content``: by a hash of all bytes.  ``version``: by a number or a time to which the engine can
    go back.  ``none``: rows may change between queries; only the names and types are the same.
    """

    CONTENT = "content"
    VERSION = "version"
    NONE = "none"


class ExactAnswer(NamedTuple):
    """Hold an answer in lattice steps (see ``decoding``), and which state of the rows it is of.

    ``state`` is the engine's own name of that state: None if it has none, and if the dataset's
    fingerprint says already which rows were read.
    """

    steps: NDArray[np.int64]
    state: str | None = None


class Connector(Protocol):
    """Read one dataset's data with one engine.

    No message depends on a cell, and none repeats what an engine said.  All raise ``Unavailable``
    if the engine cannot be reached, or runs out of memory.
    """

    @property
    def snapshot(self) -> Snapshot:
        """Return how registered data are recognized."""

    def check(self, dataset: DatasetSpec) -> None:
        """Check a dataset before it is registered: its columns, and the engine by the questions.

        Raises ``InvalidInput``, which depends on names and types of columns and the spec alone,
        and ``Unavailable`` for an engine that computes wrong answers.
        """

    def fingerprint(self, dataset: DatasetSpec, key: bytes, progress: Progress) -> bytes:
        """Return the HMAC-SHA256 under ``key`` of what is registered, 32 bytes.

        Local files of the same bytes have the same under two names; objects in a bucket and
        views are recognized by their place and their version as well.  Raises ``InvalidInput``,
        ``SourceChanged``.
        """

    def check_registered(
        self, dataset: DatasetSpec, key: bytes, fingerprint: bytes, progress: Progress
    ) -> None:
        """Raise ``SourceChanged`` unless the data are those with this fingerprint."""

    def statement(self, plan: Plan) -> Statement:
        """Return the statement of a plan, without the engine: it depends on the plan alone."""

    def fits(self, dataset: DatasetSpec, statement: Statement) -> bool:
        """Return True if a text that another version wrote runs here, without reading rows."""

    def answer(
        self,
        dataset: DatasetSpec,
        statement: Statement,
        salt: bytes,
        key: bytes,
        fingerprint: bytes,
        progress: Progress,
    ) -> ExactAnswer:
        """Read the data with a statement.

        Raises ``SourceChanged`` unless the data are those with this fingerprint.
        """
