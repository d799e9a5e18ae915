"""Describe what is sent about requests: by those who make them, and by those who decide."""

import unicodedata
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from penstock.services.schemas.levels import Level
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    CorrelatedQueryRequest,
    HistogramRequest,
    SqlRequest,
)
from penstock.spec_fields import Name, Spec, each_once

LONGEST_PROSE = 2000
"""The most characters of a purpose or a comment."""


def _prose(value: object) -> str:
    """Return a text of people: lines of plain characters, without spaces around them."""
    if not isinstance(value, str):
        raise PydanticCustomError("text", "This must be a string.")
    text = value.replace("\r\n", "\n").strip()
    if not 1 <= len(text) <= LONGEST_PROSE:
        raise PydanticCustomError(
            "text", "Write 1 to {most} characters here.", {"most": LONGEST_PROSE}
        )
    if any(unicodedata.category(each) in {"Cc", "Cs"} for each in text if each not in "\n\t"):
        raise PydanticCustomError("text", "A text here contains no control characters.")
    return text


Prose = Annotated[
    str,
    PlainValidator(_prose),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_PROSE}),
]


class ComputedAsk(ComputedQueryRequest):
    """Represent the request for a query, with what it is for."""

    purpose: Prose


class CorrelatedAsk(CorrelatedQueryRequest):
    """Represent the request for counts that are protected together, with what they are for."""

    purpose: Prose


class HistogramAsk(HistogramRequest):
    """Represent the request for a sparse histogram, with what it is for."""

    purpose: Prose


class SqlAsk(SqlRequest):
    """Represent the request for a query in SQL, with what it is for."""

    purpose: Prose


def _without_values(value: object) -> object:
    if isinstance(value, dict) and "values" in value:
        raise PydanticCustomError(
            "pushed",
            "Exact values are never stored, so a vector of them cannot be requested. Request a"
            " query that the server computes from its dataset, or let an admin push the vector.",
            {"field": "values"},
        )
    return value


def _kind_of_ask(value: object) -> str:
    sent = value if isinstance(value, dict) else {}
    if isinstance(value, SqlAsk) or "sql" in sent:
        return "<sql>"
    structure = sent.get("structure")
    if structure == "sparse_histogram" or isinstance(value, HistogramAsk):
        return "<histogram>"
    correlated = structure == "correlated" or isinstance(value, CorrelatedAsk)
    return "<correlated>" if correlated else "<computed>"


AskRequest = Annotated[
    Annotated[ComputedAsk, Tag("<computed>")]
    | Annotated[CorrelatedAsk, Tag("<correlated>")]
    | Annotated[HistogramAsk, Tag("<histogram>")]
    | Annotated[SqlAsk, Tag("<sql>")],
    Discriminator(_kind_of_ask),
    BeforeValidator(_without_values),
]


class CommentRequest(Spec):
    """Represent a comment on a request."""

    comment: Prose


class DecisionRequest(Spec):
    """Represent the decision on a request.

    ``levels`` and ``name`` replace what was requested, and belong to an approval alone.
    """

    decision: Literal["approve", "decline"]
    levels: (
        Annotated[
            dict[Name, Level], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
        ]
        | None
    ) = None
    name: Name | None = None
    comment: Prose | None = None

    @model_validator(mode="after")
    def _require_approval(self) -> "DecisionRequest":
        for field in ("levels", "name"):
            if self.decision == "decline" and getattr(self, field) is not None:
                raise PydanticCustomError(
                    "decision",
                    "Only an approval has a name and levels; leave this field out.",
                    {"field": field},
                )
        return self
