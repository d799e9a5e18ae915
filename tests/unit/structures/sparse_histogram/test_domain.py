"""Test that keys and their ranks are two names of one thing, in every domain."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import Domain, Key, Sha256Prefix, Strings, Uint64

DOMAINS: list[Domain] = [Uint64(), Uint64(10**13), Strings("ACGT", 32), Strings("01", 3)]
DOMAINS += [Strings("a", 1), Sha256Prefix()]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@given(part=st.fractions(0, 1))
def test_the_rank_of_a_key_leads_back_to_it(domain: Domain, part: float) -> None:
    rank = int(part * (domain.size - 1))
    assert domain.rank(domain.key(rank)) == rank


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_ranks_begin_at_0_and_end_before_the_size(domain: Domain) -> None:
    assert domain.rank(domain.key(0)) == 0
    assert domain.rank(domain.key(domain.size - 1)) == domain.size - 1
    for rank in (-1, domain.size):
        with pytest.raises(InvalidInput, match="outside of the domain"):
            domain.key(rank)


def test_strings_are_numbered_in_the_order_of_their_alphabet() -> None:
    domain = Strings("ab", 2)
    assert [domain.key(rank) for rank in range(domain.size)] == ["aa", "ab", "ba", "bb"]


def test_a_hash_is_the_beginning_of_the_sha_256_of_a_text() -> None:
    domain = Sha256Prefix()
    digest = hashlib.sha256(b"https://example.org/").digest()
    assert domain.rank(domain.key_of("https://example.org/")) == int.from_bytes(digest[:8], "big")


@pytest.mark.parametrize(
    ("domain", "key"),
    [
        (Uint64(), -1),
        (Uint64(), 1 << 64),
        (Uint64(), True),
        (Uint64(), "7"),
        (Strings("ab", 2), "a"),
        (Strings("ab", 2), "ac"),
        (Strings("ab", 2), 1),
        (Sha256Prefix(), "ABCDEF0123456789"),
        (Sha256Prefix(), "0" * 15),
    ],
)
def test_what_is_no_key_is_refused(domain: Domain, key: Key) -> None:
    with pytest.raises(InvalidInput, match="A key of this domain"):
        domain.rank(key)


def test_impossible_domains_are_refused() -> None:
    for make in (
        lambda: Uint64(0),
        lambda: Uint64((1 << 64) + 1),
        lambda: Strings("", 3),
        lambda: Strings("aa", 3),
        lambda: Strings("ab", 0),
        lambda: Strings("ab", 65),
        lambda: Strings("ab", 10**12),
        lambda: Strings("abcdefghijklmnopqrstuvwxyz", 14),
    ):
        with pytest.raises(InvalidInput):
            make()
