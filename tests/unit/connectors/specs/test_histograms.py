"""Test the domains of sparse histograms, and the limits of their specs."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from penstock.connectors.specs.histograms import LARGEST_SIZE, DomainSpec, domain_of
from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import Sha256Prefix, Strings, Uint64

DOMAIN: TypeAdapter[Any] = TypeAdapter(DomainSpec)


def test_every_type_names_its_domain() -> None:
    assert domain_of(DOMAIN.validate_python({"type": "uint64"})) == Uint64()
    assert domain_of(DOMAIN.validate_python({"type": "uint64", "size": 4})) == Uint64(4)
    digits = {"type": "string", "alphabet": "01", "length": 8}
    assert domain_of(DOMAIN.validate_python(digits)) == Strings("01", 8)
    assert isinstance(domain_of(DOMAIN.validate_python({"type": "sha256_64"})), Sha256Prefix)


@pytest.mark.parametrize("size", [3, LARGEST_SIZE + 1, -1])
def test_a_size_beyond_its_limits_is_refused(size: int) -> None:
    with pytest.raises(ValidationError):
        DOMAIN.validate_python({"type": "uint64", "size": size})


@pytest.mark.parametrize("spec", [{"type": "uint32"}, {}, None, {"type": 1}])
def test_an_unknown_type_is_told_the_known_ones(spec: object) -> None:
    with pytest.raises(ValidationError, match="uint64, string or sha256_64"):
        DOMAIN.validate_python(spec)


@pytest.mark.parametrize(("alphabet", "length"), [("aa", 3), ("0123456789", 20)])
def test_repeated_characters_and_more_than_2_64_keys_are_refused(
    alphabet: str, length: int
) -> None:
    spec = DOMAIN.validate_python({"type": "string", "alphabet": alphabet, "length": length})
    with pytest.raises(InvalidInput):
        domain_of(spec)
