"""Limit requests and processor time of each caller by token buckets.

A principal has a bucket of requests and one of processor seconds, and an analyst one of questions;
an address has one of invalid tokens.  The time of a computation is known only when it is done, so
the bucket of seconds may go below zero, and its principal can make no request until it is positive
again.

A bucket is kept as one number, the moment at which it will be full again (the generic cell rate
algorithm, ITU-T I.371, 1993): a request moves that moment forward by its cost, and is refused if it
would then be further ahead than an empty bucket takes to fill.  A refusal costs nothing.

The buckets of all workers of a server lie in one table of fixed size (``shared``), under
keyed hashes of whom they are for.  A bucket that is full again is forgotten first; if a row of the
table is full of other buckets, the one nearest to being full is forgotten.
"""

import hashlib
import ipaddress
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from penstock.errors import TooManyRequests
from penstock.http.counting.shared_memory import Shared
from penstock.services.access.principals import Principal
from penstock.settings import Settings

ROWS = 4096
WAYS = 8
_ENTRY = struct.Struct("<Qd")
_ROW = struct.Struct("<" + WAYS * "Qd")
COVERED = 0.01
"""Processor seconds that are covered by the cost of one request."""

BYTES = ROWS * WAYS * _ENTRY.size
"""Size of the table in bytes, independent of the number of callers."""

REMEMBERED = 4096
"""The most names whose places are remembered."""

LAYOUT = f"buckets {ROWS} {WAYS} {_ENTRY.format}"
MINUTE = 60.0


@dataclass(frozen=True)
class Allowance:
    """Allow ``burst`` requests or processor seconds at once, and ``rate`` a second after that.

    A rate of 0 means no limit.
    """

    burst: float
    rate: float


class Buckets:
    """Keep buckets by name in a table of ``BYTES`` bytes; ``clock`` in seconds, monotonic."""

    def __init__(self, memory: Shared, offset: int, key: bytes, clock: Callable[[], float]) -> None:
        self._memory = memory
        self._offset = offset
        self._key = key
        self._clock = clock
        # Hashing takes longer than all else, and the same few callers come again and again.
        self._place = lru_cache(REMEMBERED)(self._hashed)

    def take(self, name: str, allowance: Allowance) -> float:
        """Take one request out of a bucket.

        Returns 0, or the number of seconds until one is available.
        """
        if allowance.rate <= 0:
            return 0.0
        with self._memory.locked() as memory:
            return self._take(memory, name, allowance)

    def take_unless_owed(
        self, name: str, allowance: Allowance, other: str, limit: Allowance
    ) -> tuple[float, float]:
        """Take one request out of a bucket unless more than its burst is owed to another one.

        Returns the amount that was taken out of the other and has not been refilled yet, and 0 or
        the number of seconds until a request is available; under one lock.
        """
        with self._memory.locked() as memory:
            owed = 0.0
            if limit.rate > 0:
                full_at, now, _ = self._entry(memory, other)
                owed = (full_at - now) * limit.rate
            if owed > limit.burst or allowance.rate <= 0:
                return owed, 0.0
            return owed, self._take(memory, name, allowance)

    def use(self, name: str, allowance: Allowance, amount: float) -> None:
        """Take an amount that is already used out of a bucket, even more than it contains."""
        if allowance.rate <= 0:
            return
        with self._memory.locked() as memory:
            full_at, _, store = self._entry(memory, name)
            store(full_at + amount / allowance.rate)

    def _take(self, memory: memoryview, name: str, allowance: Allowance) -> float:
        full_at, now, store = self._entry(memory, name)
        wait = full_at + 1 / allowance.rate - now - allowance.burst / allowance.rate
        # What rounding leaves over is worth less than a nanosecond.
        if wait > 1e-9:
            return wait
        store(full_at + 1 / allowance.rate)
        return 0.0

    def _hashed(self, name: str) -> tuple[int, int]:
        """Return where in the memory the row of a bucket begins, and the bucket's key in it."""
        digest = hashlib.blake2b(
            name.encode(), digest_size=16, key=self._key[:64], person=b"penstock limits"
        ).digest()
        row, key = struct.unpack("<QQ", digest)
        # A key of 0 is that of a free entry.
        return self._offset + row % ROWS * WAYS * _ENTRY.size, key or 1

    def _entry(self, memory: memoryview, name: str) -> tuple[float, float, Callable[[float], None]]:
        """Return when a bucket will be full again, the time, and how to store another moment."""
        start, key = self._place(name)
        now = self._clock()
        keys, moments = _split(_ROW.unpack_from(memory, start))
        known = key in keys
        place = keys.index(key) if known else moments.index(min(moments))
        full_at = max(moments[place], now) if known else now

        def store(moment: float) -> None:
            _ENTRY.pack_into(memory, start + place * _ENTRY.size, key, moment)

        return full_at, now, store


class Limits:
    """Hold the limits of the settings, for principals and for addresses."""

    def __init__(self, buckets: Buckets, settings: Settings) -> None:
        self._buckets = buckets
        self._requests = Allowance(settings.request_burst, settings.request_rate)
        self._processor = Allowance(settings.processor_burst, settings.processor_rate)
        questions = settings.questions_per_minute
        self._questions = Allowance(questions, questions / MINUTE)
        self._failures = Allowance(settings.failed_sign_ins, settings.failed_sign_ins / MINUTE)

    def request(self, user: str) -> None:
        """Count a request of the principal of this name, under any of their tokens.

        Raises ``TooManyRequests`` for too many requests, and for too much processor time.
        """
        used, wait = self._buckets.take_unless_owed(
            f"user {user}", self._requests, f"processor {user}", self._processor
        )
        self._require_seconds(used)
        if wait:
            raise _refusal(
                f"You made more than {self._requests.burst:g} requests at once and"
                f" {self._requests.rate:g} a second after that.",
                wait,
            )

    def question(self, caller: Principal) -> None:
        """Count a preview, a trial on made-up rows, a request or a registration of an analyst.

        Admins have none of these limits: they must be able to decide about the questions of others.
        Raises ``TooManyRequests``.
        """
        if "admin" in caller.roles:
            return
        wait = self._buckets.take(f"questions {caller.name}", self._questions)
        if wait:
            raise _refusal(
                f"You tried more than {self._questions.burst:g} questions in a minute, by previews,"
                " on made-up rows, or by sending them (PENSTOCK_QUESTIONS_PER_MINUTE).",
                wait,
            )

    def computed(self, user: str, seconds: float) -> None:
        """Count processor seconds that were used for the principal of this name."""
        self._buckets.use(f"processor {user}", self._processor, seconds)

    def answered(self, user: str, seconds: float) -> None:
        """Count a request's processor time beyond what the cost of one request covers."""
        if seconds > COVERED:
            self.computed(user, seconds - COVERED)

    def _require_seconds(self, used: float) -> None:
        burst, rate = self._processor.burst, self._processor.rate
        if used > burst:
            raise _refusal(
                f"Your requests used {used:.0f} seconds of a processor lately, of {burst:g} that"
                f" one principal may use at once; {rate:g} come back every second.",
                (used - burst) / rate,
            )

    def failed_sign_in(self, address: str) -> None:
        """Count an invalid token, by the address that it came from and nothing else.

        Raises ``TooManyRequests``.
        """
        wait = self._buckets.take(f"address {network(address)}", self._failures)
        if wait:
            raise _refusal(
                f"More than {self._failures.burst:g} invalid tokens came from this address in a"
                f" minute.",
                wait,
            )


def _split(row: Sequence[Any]) -> tuple[Sequence[int], Sequence[float]]:
    """Return the keys and the moments of a row of the table."""
    return row[::2], row[1::2]


def network(address: str) -> str:
    """Return the part of an address that counts as one client: all of IPv4, 64 bits of IPv6."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


def _refusal(reason: str, wait: float) -> TooManyRequests:
    seconds = max(1, math.ceil(wait))
    plural = "s" if seconds > 1 else ""
    return TooManyRequests(f"{reason} Ask again in {seconds} second{plural}.", retry_after=seconds)
