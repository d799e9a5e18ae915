"""Define the public sets that keys come from, and the rank of each key within its set.

A histogram works on ranks, the integers from 0 to ``size - 1``; a key and its rank identify
the same element.  The whole domain is public, so that its size reveals nothing.
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
    """Represent a finite set of keys in a public order."""

    @property
    def size(self) -> int:
        """Return the number of keys, at most 2^64."""
        ...

    def rank(self, key: Key) -> int:
        """Return how many keys come before ``key``.

        Raises ``InvalidInput`` for a key outside the domain.
        """
        ...

    def key(self, rank: int) -> Key:
        """Return the key that ``rank`` others come before.

        Raises ``InvalidInput`` beyond the last.
        """
        ...


@dataclass(frozen=True)
class Uint64:
    """Represent the integers from 0 to ``size - 1``, by default all of 64 bits."""

    size: int = LARGEST_DOMAIN

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_DOMAIN:
            raise InvalidInput(f"A domain has 1 to 2^64 keys, not {self.size}.", pointer="/domain")

    def rank(self, key: Key) -> int:
        """Return the integer itself."""
        if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key < self.size:
            raise InvalidInput(f"A key of this domain is an integer from 0 to {self.size - 1}.")
        return key

    def key(self, rank: int) -> int:
        """Return the integer itself."""
        _check_rank(self, rank)
        return rank


@dataclass(frozen=True)
class Strings:
    """Represent all strings of ``length`` characters of ``alphabet``, in the alphabet's order.

    Raises ``InvalidInput`` if characters repeat, and if there are more than 2^64 strings.
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
                f"A string of this domain has at least 1 character, not {self.length}.",
                pointer="/domain/length",
            )
        # Check the length before computing the size: its power could fill the memory.
        if self.length > LARGEST_DOMAIN.bit_length() or self.size > LARGEST_DOMAIN:
            raise InvalidInput(
                f"There are more than 2^64 strings of {self.length} characters out of"
                f" {len(self.alphabet)}, which is more than a domain may have. Take shorter"
                " strings, or sha256_64.",
                pointer="/domain/length",
            )

    @cached_property
    def size(self) -> int:
        """Return ``len(alphabet) ** length``."""
        return int(len(self.alphabet) ** self.length)

    @cached_property
    def _digits(self) -> dict[str, int]:
        return {character: digit for digit, character in enumerate(self.alphabet)}

    def rank(self, key: Key) -> int:
        """Read the string as a number, its first character as the most significant digit."""
        if not isinstance(key, str) or len(key) != self.length or not set(key) <= set(self._digits):
            raise InvalidInput(
                f"A key of this domain has {self.length} characters out of {self.alphabet!r}."
            )
        rank = 0
        for character in key:
            rank = rank * len(self.alphabet) + self._digits[character]
        return rank

    def key(self, rank: int) -> str:
        """Write the digits of ``rank`` as characters."""
        _check_rank(self, rank)
        characters = []
        for _ in range(self.length):
            rank, digit = divmod(rank, len(self.alphabet))
            characters.append(self.alphabet[digit])
        return "".join(reversed(characters))


@dataclass(frozen=True)
class Sha256Prefix:
    """Represent the first 64 bits of a SHA-256, as 16 hexadecimal digits: ``sha256_64``.

    Texts may have any length; two of them share a key with a chance of 2^-64 for each pair, and
    their counts are then added up.  Anyone who knows a text can compute its key.
    """

    @property
    def size(self) -> int:
        """Return 2^64."""
        return LARGEST_DOMAIN

    def rank(self, key: Key) -> int:
        """Read the digits as a number."""
        if not isinstance(key, str) or not _HASH.fullmatch(key):
            raise InvalidInput("A key of this domain has 16 hexadecimal digits, in lower case.")
        return int(key, 16)

    def key(self, rank: int) -> str:
        """Write the number as digits."""
        _check_rank(self, rank)
        return f"{rank:016x}"

    def key_of(self, text: str) -> str:
        """Return the key of a text: the beginning of the SHA-256 of its UTF-8."""
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def ranks_of(domain: Domain, keys: Sequence[Key]) -> NDArray[np.uint64]:
    """Return the ranks of many keys: shape ``(len(keys),)``."""
    return np.array([domain.rank(key) for key in keys], dtype=np.uint64)


def _check_rank(domain: Domain, rank: int) -> None:
    if not 0 <= rank < domain.size:
        raise InvalidInput(f"Rank {rank} is outside of the domain, which has {domain.size} keys.")
