"""Declare counts over keys that cannot be listed, and the public set that they come from.

A *sparse histogram* counts over all keys of a domain so large that its answer is never written
down: only keys with a count that is not 0 are read, and only they and a few others are ever
reported.  The set of possible keys is declared; a row whose cell is not among them is dropped, as
for any undeclared key.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from penstock.connectors.specs.models import ComputedQuery
from penstock.spec_fields import Spec, Text
from penstock.structures.sparse_histogram.domain import Domain, Sha256Prefix, Strings, Uint64

SMALLEST_DOMAIN = 4
LARGEST_SIZE = 2**64 - 1
"""The largest size that a spec may give: JSON's readers hold no more in an integer."""

LONGEST_KEY = 64


class Uint64Domain(Spec):
    """The integers from 0 to ``size - 1``: all 2^64 of 64 bits if it is left out."""

    type: Literal["uint64"]
    size: Annotated[int, Field(ge=SMALLEST_DOMAIN, le=LARGEST_SIZE)] | None = None


class StringDomain(Spec):
    """All strings of exactly ``length`` characters of ``alphabet``, at most 2^64 of them."""

    type: Literal["string"]
    alphabet: Text
    length: Annotated[int, Field(ge=1, le=LONGEST_KEY)]


class HashDomain(Spec):
    """Texts of any length, each under the first 64 bits of its SHA-256."""

    type: Literal["sha256_64"]


_DOMAINS = ("uint64", "string", "sha256_64")


def _kind_of_domain(value: object) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return f"<{kind}>" if isinstance(kind, str) and kind in _DOMAINS else None


DomainSpec = Annotated[
    Annotated[Uint64Domain, Tag("<uint64>")]
    | Annotated[StringDomain, Tag("<string>")]
    | Annotated[HashDomain, Tag("<sha256_64>")],
    Discriminator(
        _kind_of_domain,
        custom_error_type="domain",
        custom_error_message="This must be an object whose type is uint64, string or sha256_64.",
    ),
]


class HistogramQuery(ComputedQuery):
    """The data half of a count over all keys of a domain, which one column names."""

    structure: Literal["sparse_histogram"]
    domain: DomainSpec


def domain_of(spec: Uint64Domain | StringDomain | HashDomain) -> Domain:
    """Return the keys.  Raises ``InvalidInput`` for more than 2^64 and for repeated characters."""
    match spec:
        case Uint64Domain():
            return Uint64() if spec.size is None else Uint64(spec.size)
        case StringDomain():
            return Strings(spec.alphabet, spec.length)
    return Sha256Prefix()
