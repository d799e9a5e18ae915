"""Read previews of streams: what one would cost, and how other structures would compare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from penstock_client._http.fields import Fields
from penstock_client.models import Answer, ErrorBars, whole
from penstock_client.preview import TierPreview, sensitivity_in


@dataclass(frozen=True)
class StepError:
    """Hold the error of the totals after element ``t``."""

    t: int
    error: ErrorBars

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.integer("t"), ErrorBars.read(fields.child("error")))


@dataclass(frozen=True, kw_only=True)
class StreamTierPreview(TierPreview):
    """Hold what one tier would get of a stream, and what it would be charged for one unit.

    ``error`` is that of the noisiest step; ``root_mean_square`` is the error over all steps.
    """

    root_mean_square: float
    steps: tuple[StepError, ...]

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the errors over the length of the stream."""
        return {
            **super().more(fields),
            "root_mean_square": fields.positive("root_mean_square"),
            "steps": tuple(map(StepError.read, fields.children("steps"))),
        }


@dataclass(frozen=True)
class StructureError:
    """Hold standard deviations at one tier: the root mean square over steps, and the largest.

    ``charged_share`` is None if the server cannot open a stream with this structure.
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
    """Represent one structure, at the same guarantees as the previewed stream.

    ``request`` has the fields of a spec that choose this structure; it is None if the server
    cannot open such a stream.  A tier keeps ``kept`` numbers; per step, ``drawn`` numbers are
    drawn and ``added`` numbers are added to totals.
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
class StreamNoise:
    """Hold the same stream with one mechanism, in the structure that ``auto`` takes for it.

    ``refusal`` says why there could be no such stream, or why it cannot be compared; there are no
    ``errors`` then.
    """

    mechanism: str
    structure: Mapping[str, object] = field(hash=False)
    chosen: bool
    refusal: str | None
    errors: tuple[StructureError, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("mechanism"),
            fields.child("structure").whole,
            fields.whole.get("chosen") is True,
            fields.text_or_none("refusal"),
            tuple(map(StructureError.read, fields.children("errors"))),
        )


@dataclass(frozen=True)
class StreamPreview:
    """Hold what a stream would cost, for each tier that the caller may see.

    ``structures`` begin with the one that has the least mean squared error over
    ``judged_steps`` steps; ``refusal`` says why budgets would not allow the stream.  ``noises``
    are Laplace and Gaussian noise at the same targets.
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
    noises: tuple[StreamNoise, ...] = ()

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            stream=fields.text("stream"),
            structure=fields.child("structure").whole,
            length=fields.integer_or_none("length"),
            dimension=fields.integer("dimension"),
            sensitivity=sensitivity_in(fields),
            judged_steps=fields.integer("judged_steps"),
            noisiest_step=fields.integer("noisiest_step"),
            refusal=fields.text_or_none("refusal"),
            tiers=tuple(map(StreamTierPreview.read, fields.children("tiers"))),
            structures=tuple(map(Structure.read, fields.children("structures"))),
            answer=whole(fields),
            noises=tuple(map(StreamNoise.read, fields.children_or_none("noises"))),
        )
