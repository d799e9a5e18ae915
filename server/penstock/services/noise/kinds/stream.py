"""Represent a stream: running totals, drawn with the elements as they arrive."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlmodel import Session, col, select
from typing_extensions import override

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.laplace.pure import purely_charged
from penstock.mechanisms.process import Mechanism
from penstock.persistence.tables.queries import Query
from penstock.persistence.tables.streams import StreamState
from penstock.services.noise.kinds.buffered_shape import BufferedShape
from penstock.services.noise.kinds.stream_shape import RootShape, Shape, TreeShape
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.sealing import misfit
from penstock.services.schemas.queries import Terms
from penstock.services.schemas.views import ErrorView


@dataclass(frozen=True)
class StreamKind(VectorKind):
    """Represent a stream of a given shape; its levels are drawn with its elements."""

    is_stream: ClassVar[bool] = True

    shape: Shape

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the shape that the stream was opened with."""
        return None if query.structure is None else {"shape": shape_of(query.structure)}

    @classmethod
    @override
    def stored_family(cls, query: Query, own: Mapping[str, Any]) -> type[Mechanism]:
        """Return the mechanism; of Laplace noise that looks ahead only the pure epsilon holds."""
        family = super().stored_family(query, own)
        return family if own["shape"].past_only else purely_charged(family)

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return ``None``: before a stream is opened its nodes are planned as a vector."""
        return None

    @override
    def leaf(self) -> dict[str, Any]:
        """Return the shape, as it is stored."""
        return {"structure": json.loads(self.shape.encoded())}

    @override
    def require_rung(self, rung: int) -> None:
        """Raise ``InvalidInput`` if the noise of the heaviest node would leave its range."""
        self.shape.require_reach(self, rung)

    @override
    def charged_numbers(self, query: Query) -> int:
        """Return the draws of every number that one unit contributes to."""
        return query.dimension * self.shape.draws_of_a_number

    @override
    def missing(self, session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
        """Return nothing: the noise of nodes in use is stored, and data are never read again."""
        return []

    @override
    def current_error(self, session: Session, query: Query, rung: int) -> ErrorView:
        """Return the margin of error of the newest running total."""
        step = max(state_row(session, query).step, 1)
        return next(self.shape.errors(self, rung, [step]))


def shape_of(structure: str) -> Shape:
    """Return the shape that ``Shape.encoded`` wrote."""
    stored = json.loads(structure)
    others: dict[str, type[Shape]] = {each.name: each for each in (RootShape, BufferedShape)}
    return others.get(stored["kind"], TreeShape)(**stored)


def state_row(session: Session, query: Query) -> StreamState:
    """Return the row of a stream's state.  Raises ``IntegrityViolation`` without one."""
    row = session.exec(select(StreamState).where(col(StreamState.query_id) == query.id)).first()
    if row is None:
        raise misfit(query, "has no state", noun="Stream")
    return row
