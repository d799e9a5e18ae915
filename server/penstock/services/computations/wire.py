"""Write public numbers as JSON and read them, for computations in other processes.

Only a fixed list of classes may be sent.  Reading a document makes objects of these classes and no
others; writing an object of any other class raises ``TypeError``.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final

from pydantic import BaseModel

from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.ledger import Entry
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.connectors.binned.quantiles import Quantiles
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.moments import Moments, Regression
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.laplace.process import DiscreteLaplace, Laplace
from penstock.mechanisms.laplace.pure import PureDiscreteLaplace, PureLaplace
from penstock.mechanisms.poisson.process import Poisson
from penstock.mechanisms.skellam.process import Skellam
from penstock.persistence.tables.people import Tier
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target, TargetKind
from penstock.services.computations.results import COMPUTED
from penstock.services.computations.stream_quotes import StreamTerms
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.choice import KINDS
from penstock.services.schemas import histograms, previews, queries, stream_previews, streams, views
from penstock.spec_fields import without_number
from penstock.structures.sparse_histogram.noise import HistogramNoise

_NOISES: Final = (
    *(Gaussian, Laplace, DiscreteLaplace, PureLaplace, PureDiscreteLaplace),
    *(Poisson, Skellam),
)
"""The mechanisms of one law each; the others are families of laws."""

_OF_KINDS: Final[Sequence[type[Any]]] = [
    part for kind in KINDS for part in (kind, *kind.sent_classes)
]
_OBJECTS: Final = {
    kind.__name__: kind
    for kind in (
        *(Account, Entry, Ladder, PlacedRelease, PreparedQuery, Sensitivity, Target),
        *(Quote, StreamTerms, TierAccount),
        *_OF_KINDS,
        *COMPUTED,
        *(
            kind
            for module in (histograms, previews, stream_previews, views)
            for kind in vars(module).values()
            if isinstance(kind, type) and is_dataclass(kind)
        ),
    )
}
_REQUESTS: Final[Sequence[type[BaseModel]]] = (
    *(kind.request_model for kind in KINDS),
    *(Moments, Regression, Quantiles),
    queries.PushedVectorRequest,
    queries.VectorPreviewRequest,
    streams.StreamRequest,
)
_MODELS: Final = {model.__name__: model for model in _REQUESTS}
_ENUMS: Final = {kind.__name__: kind for kind in (TargetKind,)}
_TIER: Final = ("id", "name", "folded", "rank")
"""The fields of a tier's row that are sent."""


def written(value: Any) -> Any:
    """Write a value as JSON.  Raises ``TypeError`` for a value that may not be sent."""
    if isinstance(value, Enum):
        return {"enum": [type(value).__name__, value.value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, list):
        return [written(part) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [written(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[written(name), written(part)] for name, part in value.items()]}
    if isinstance(value, Tier):
        return {"tier": [getattr(value, name) for name in _TIER]}
    if isinstance(value, Gaussian | Laplace | Poisson | Skellam | GeneralizedGaussian):
        return {"noise": _noise_written(value)}
    return _object_written(value)


def read(document: Any) -> Any:
    """Return the value that ``written`` wrote."""
    if isinstance(document, list):
        return [read(part) for part in document]
    if not isinstance(document, dict):
        return document
    [(kind, content)] = document.items()
    return _READERS[kind](content)


def _object_written(value: Any) -> Any:
    name = type(value).__name__
    if isinstance(value, BaseModel) and _MODELS.get(name) is type(value):
        return {"model": [name, _without_data(value)]}
    if _OBJECTS.get(name) is type(value) and is_dataclass(value):
        return {"object": [name, *(written(getattr(value, field.name)) for field in fields(value))]}
    raise TypeError(f"{name} may not cross to another process")


def _without_data(value: BaseModel) -> Any:
    """Return a request without what nothing here depends on: exact values, keys, and the number
    in a query's name, which no request may have.
    """
    document = value.model_dump(mode="json", exclude_unset=True, exclude={"keys", "values"})
    if "name" in document:
        document["name"] = without_number(document["name"])
    if isinstance(value, queries.Terms):
        document |= value.stand_ins
    return document


def _noise_written(value: Any) -> list[Any]:
    granularity = str(value.granularity)
    if isinstance(value, GeneralizedGaussian):
        return ["GeneralizedGaussian", granularity, str(value.power)]
    if isinstance(value, HistogramNoise):
        return ["HistogramNoise", granularity, value.size, value.most_false]
    return [type(value).__name__, granularity]


def _noise(content: list[Any]) -> Any:
    name, granularity, *own = content
    families: dict[str, Callable[..., Any]] = {
        "GeneralizedGaussian": lambda power: GeneralizedGaussian.of(Fraction(power)),
        "HistogramNoise": HistogramNoise.of,
        **{kind.__name__: lambda kind=kind: kind for kind in _NOISES},
    }
    return families[name](*own)(Fraction(granularity))


def _made(content: list[Any]) -> Any:
    name, *parts = content
    kind = _OBJECTS[name]
    named = zip((field.name for field in fields(kind)), map(read, parts), strict=True)
    return kind(**dict(named))


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "enum": lambda content: _ENUMS[content[0]](content[1]),
    "fraction": Fraction,
    "tuple": lambda content: tuple(read(part) for part in content),
    "dict": lambda content: {read(name): read(part) for name, part in content},
    "tier": lambda content: Tier(**dict(zip(_TIER, content, strict=True))),
    "noise": _noise,
    "object": _made,
    "model": lambda content: _MODELS[content[0]].model_validate(content[1]),
}
