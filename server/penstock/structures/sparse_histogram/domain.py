"""The public sets that keys come from, and the number of each key within its set.

A histogram works on ranks, the integers from 0 to ``size - 1``; a key and its rank are two
names of one thing.  The whole domain is public, so that nothing is told by its being large.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput

LARGEST_DOMAIN = 1 << 64

Key = int | str

_HASH = re.compile(r"[0-9a-f]{16}")


class Domain(Protocol):
    """A finite set of keys in a public order."""

    @property
    def size(self) -> int:
        """How many keys there are, at most 2^64."""
        ...

    def rank(self, key: Key) -> int:
        """How many keys come before ``key``.  Raises ``InvalidInput`` where it is none."""
        ...

    def key(self, rank: int) -> Key:
        """The key that ``rank`` others come before.  Raises ``InvalidInput`` beyond the last."""
        ...


@dataclass(frozen=True)
class Uint64:
    """The integers from 0 to ``size - 1``, all of 64 bits unless told otherwise."""

    size: int = LARGEST_DOMAIN

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_DOMAIN:
            raise InvalidInput(f"A domain has 1 to 2^64 keys, not {self.size}.", pointer="/domain")

    def rank(self, key: Key) -> int:
        """The integer itself."""
        if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key < self.size:
            raise InvalidInput(f"A key of this domain is an integer from 0 to {self.size - 1}.")
        return key

    def key(self, rank: int) -> int:
        """The integer itself."""
        _check_rank(self, rank)
        return rank


@dataclass(frozen=True)
class Strings:
    """All strings of exactly ``length`` characters of ``alphabet``, in the alphabet's order.

    Raises ``InvalidInput`` where characters repeat, and where there are more than 2^64 strings.
    """

    alphabet: str
    length: int

    def __post_init__(self) -> None:
        if not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise InvalidInput(
                "An alphabet has at least one character, and each of them once: for example"
                " 0123456789.",
                pointer="/domain/alphabet",
            )
        if self.length < 1:
            raise InvalidInput(
                f"Strings of {self.length} characters are none; give their length, from 1 on.",
                pointer="/domain/length",
            )
        # The length is looked at first: powers of it could fill the memory.
        if self.length > LARGEST_DOMAIN.bit_length() or self.size > LARGEST_DOMAIN:
            raise InvalidInput(
                f"Strings of {self.length} characters out of {len(self.alphabet)} are more than the"
                " 2^64 that a domain may have; take shorter ones, or sha256_64.",
                pointer="/domain/length",
            )

    @cached_property
    def size(self) -> int:
        """``len(alphabet) ** length``."""
        return int(len(self.alphabet) ** self.length)

    @cached_property
    def _digits(self) -> dict[str, int]:
        return {character: digit for digit, character in enumerate(self.alphabet)}

    def rank(self, key: Key) -> int:
        """The string read as a number, its first character the most significant digit."""
        if not isinstance(key, str) or len(key) != self.length or not set(key) <= set(self._digits):
            raise InvalidInput(
                f"A key of this domain has {self.length} characters out of {self.alphabet!r}."
            )
        rank = 0
        for character in key:
            rank = rank * len(self.alphabet) + self._digits[character]
        return rank

    def key(self, rank: int) -> str:
        """The digits of ``rank`` as characters."""
        _check_rank(self, rank)
        characters = []
        for _ in range(self.length):
            rank, digit = divmod(rank, len(self.alphabet))
            characters.append(self.alphabet[digit])
        return "".join(reversed(characters))


@dataclass(frozen=True)
class Sha256Prefix:
    """The first 64 bits of a SHA-256, as 16 hexadecimal digits: ``sha256_64``.

    Texts of any length, two of which share a key with a chance of 2^-64 a pair; their
    counts are then added up.  Whoever knows a text knows its key.
    """

    @property
    def size(self) -> int:
        """2^64."""
        return LARGEST_DOMAIN

    def rank(self, key: Key) -> int:
        """The digits as a number."""
        if not isinstance(key, str) or not _HASH.fullmatch(key):
            raise InvalidInput("A key of this domain has 16 hexadecimal digits, in lower case.")
        return int(key, 16)

    def key(self, rank: int) -> str:
        """The number as digits."""
        _check_rank(self, rank)
        return f"{rank:016x}"

    def key_of(self, text: str) -> str:
        """The key of a text, by its UTF-8."""
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def ranks_of(domain: Domain, keys: Sequence[Key]) -> NDArray[np.uint64]:
    """The ranks of many keys, shape ``(len(keys),)``."""
    return np.array([domain.rank(key) for key in keys], dtype=np.uint64)


def _check_rank(domain: Domain, rank: int) -> None:
    if not 0 <= rank < domain.size:
        raise InvalidInput(f"Rank {rank} is outside of the domain, which has {domain.size} keys.")
