"""What a stream would cost, and what other structures would do at the same guarantee."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from penstock_client._http.fields import Fields
from penstock_client.models import Answer, ErrorBars, whole
from penstock_client.preview import TierPreview, sensitivity_in


@dataclass(frozen=True)
class StepError:
    """How far off the totals after element ``t`` may be."""

    t: int
    error: ErrorBars

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.integer("t"), ErrorBars.read(fields.child("error")))


@dataclass(frozen=True, kw_only=True)
class StreamTierPreview(TierPreview):
    """What one tier would get of a stream, and be charged for one unit.

    ``error`` is that of the noisiest step, ``root_mean_square`` the deviation over all.
    """

    root_mean_square: float
    steps: tuple[StepError, ...]

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """The error over the length."""
        return {
            **super().more(fields),
            "root_mean_square": fields.positive("root_mean_square"),
            "steps": tuple(map(StepError.read, fields.children("steps"))),
        }


@dataclass(frozen=True)
class StructureError:
    """Standard deviations at one tier, over all steps and of the noisiest one.

    ``charged_share`` is None where the server opens no such stream.
    """

    tier: str
    root_mean_square: float
    largest: float
    charged_share: float | None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("tier"),
            fields.positive("root_mean_square"),
            fields.positive("largest"),
            fields.number_or_none("charged_share"),
        )


@dataclass(frozen=True)
class Structure:
    """One structure at the guarantees of the stream that was asked about.

    ``request`` is what a spec says to have it, None where the server opens no such stream.
    A tier keeps ``kept`` numbers; ``drawn`` are drawn and ``added`` to totals in a step.
    """

    name: str
    settings: Mapping[str, object] = field(hash=False)
    request: Mapping[str, object] | None = field(hash=False)
    chosen: bool
    least_mean: bool
    least_largest: bool
    lossless: bool
    kept: int
    drawn: float
    added: float
    errors: tuple[StructureError, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        request = fields.child_or_none("request")
        return cls(
            fields.text("structure"),
            fields.child("settings").whole,
            None if request is None else request.whole,
            chosen=fields.whole.get("chosen") is True,
            least_mean=fields.whole.get("least_mean") is True,
            least_largest=fields.whole.get("least_largest") is True,
            lossless=fields.whole.get("lossless") is True,
            kept=fields.integer("kept"),
            drawn=fields.number("drawn"),
            added=fields.number("added"),
            errors=tuple(map(StructureError.read, fields.children("errors"))),
        )


@dataclass(frozen=True)
class StreamPreview:
    """A stream before it is paid for, down to the tiers that the caller may see.

    ``structures`` begin with that of the least mean squared error over ``judged_steps``
    steps; ``refusal`` says why budgets would not allow the stream.
    """

    stream: str
    structure: Mapping[str, object] = field(hash=False)
    length: int | None
    dimension: int
    sensitivity: Mapping[str, float] = field(hash=False)
    judged_steps: int
    noisiest_step: int
    refusal: str | None
    tiers: tuple[StreamTierPreview, ...]
    structures: tuple[Structure, ...]
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("stream"),
            fields.child("structure").whole,
            fields.integer_or_none("length"),
            fields.integer("dimension"),
            sensitivity_in(fields),
            fields.integer("judged_steps"),
            fields.integer("noisiest_step"),
            fields.text_or_none("refusal"),
            tuple(map(StreamTierPreview.read, fields.children("tiers"))),
            tuple(map(Structure.read, fields.children("structures"))),
            whole(fields),
        )
