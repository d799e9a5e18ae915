"""Limit how often somebody may ask, and their processor time, by token buckets.

A principal has one of requests and one of seconds of a processor, an address one of tokens
that are not valid.  What a computation takes is known when it is done: so the bucket of seconds
may owe some, and whoever is in debt asks for nothing until that has come back.

A bucket is kept as one number, the moment at which it will be full again (the generic cell
rate algorithm, ITU-T I.371, 1993): asking moves that moment on by what one request costs,
and is refused where it would lie further ahead than an empty bucket takes to fill.  A
refusal costs nothing.

The buckets of all workers of a server lie in one table of fixed size (``shared``), under
keyed hashes of whom they are for.  A bucket that is full again is forgotten first; where a
row of the table is full of others, the one that is nearest to being full is.
"""

import hashlib
import ipaddress
import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from penstock.errors import TooManyRequests
from penstock.http.counting.shared_memory import Shared
from penstock.settings import Settings

ROWS = 4096
WAYS = 8
_ENTRY = struct.Struct("<Qd")
COVERED = 0.01
"""Seconds of a processor that a request may take as one request, and no more than that."""

BYTES = ROWS * WAYS * _ENTRY.size
"""Size of the table in bytes, independent of the number of callers."""

LAYOUT = f"buckets {ROWS} {WAYS} {_ENTRY.format}"
MINUTE = 60.0


@dataclass(frozen=True)
class Allowance:
    """Allow ``burst`` at once, and ``rate`` a second after that; a rate of 0 is no limit.

    Of requests, or of seconds of a processor.
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

    def take(self, name: str, allowance: Allowance) -> float:
        """Take one request out of a bucket.

        Answers with 0, or with how many seconds later there will be one to take.
        """
        if allowance.rate <= 0:
            return 0.0
        with self._entry(name) as (full_at, now, store):
            wait = full_at + 1 / allowance.rate - now - allowance.burst / allowance.rate
            # What is left over by rounding is less than a nanosecond's worth.
            if wait > 1e-9:
                return wait
            store(full_at + 1 / allowance.rate)
        return 0.0

    def owed(self, name: str, allowance: Allowance) -> float:
        """Return how much was taken out of a bucket and did not come back yet."""
        if allowance.rate <= 0:
            return 0.0
        with self._entry(name) as (full_at, now, _):
            return (full_at - now) * allowance.rate

    def use(self, name: str, allowance: Allowance, amount: float) -> None:
        """Take out of a bucket what is used already, also more than is in it."""
        if allowance.rate <= 0:
            return
        with self._entry(name) as (full_at, _, store):
            store(full_at + amount / allowance.rate)

    @contextmanager
    def _entry(self, name: str) -> Iterator[tuple[float, float, Callable[[float], None]]]:
        """Return when a bucket will be full again, the time, and how to store another moment."""
        digest = hashlib.blake2b(
            name.encode(), digest_size=16, key=self._key[:64], person=b"penstock limits"
        ).digest()
        row, key = struct.unpack("<QQ", digest)
        start = self._offset + row % ROWS * WAYS * _ENTRY.size
        key = key or 1  # 0 is an entry that nobody has
        with self._memory.locked() as memory:
            now = self._clock()
            entries = [_ENTRY.unpack_from(memory, start + n * _ENTRY.size) for n in range(WAYS)]
            own = [n for n, entry in enumerate(entries) if entry[0] == key]
            place = own[0] if own else min(range(WAYS), key=lambda n: entries[n][1])
            full_at = max(entries[place][1], now) if own else now

            def store(moment: float) -> None:
                _ENTRY.pack_into(memory, start + place * _ENTRY.size, key, moment)

            yield full_at, now, store


class Limits:
    """Hold what the settings allow, to principals and to addresses."""

    def __init__(self, buckets: Buckets, settings: Settings) -> None:
        self._buckets = buckets
        self._requests = Allowance(settings.request_burst, settings.request_rate)
        self._processor = Allowance(settings.processor_burst, settings.processor_rate)
        self._failures = Allowance(settings.failed_sign_ins, settings.failed_sign_ins / MINUTE)

    def request(self, user: str) -> None:
        """Count a request of the principal of this name, whatever token it came with.

        Raises ``TooManyRequests`` for too many, and where they took too much of a processor.
        """
        self._require_seconds(user)
        wait = self._buckets.take(f"user {user}", self._requests)
        if wait:
            raise _refusal(
                f"More was asked for than {self._requests.burst:g} requests at once and"
                f" {self._requests.rate:g} a second after that.",
                wait,
            )

    def computed(self, user: str, seconds: float) -> None:
        """Count seconds of a processor that were used for the principal of this name."""
        self._buckets.use(f"processor {user}", self._processor, seconds)

    def answered(self, user: str, seconds: float) -> None:
        """Count what a request took of a processor, beyond what one request may take."""
        if seconds > COVERED:
            self.computed(user, seconds - COVERED)

    def _require_seconds(self, user: str) -> None:
        burst, rate = self._processor.burst, self._processor.rate
        used = self._buckets.owed(f"processor {user}", self._processor)
        if used > burst:
            raise _refusal(
                f"Your requests used {used:.0f} seconds of a processor lately, of {burst:g} that"
                f" one principal may use at once; {rate:g} come back every second.",
                (used - burst) / rate,
            )

    def failed_sign_in(self, address: str) -> None:
        """Count a token that is not valid, by where it came from and by nothing else.

        Raises ``TooManyRequests``.
        """
        wait = self._buckets.take(f"address {network(address)}", self._failures)
        if wait:
            raise _refusal(
                f"More than {self._failures.burst:g} tokens in a minute came from this address"
                " that are not valid.",
                wait,
            )


def network(address: str) -> str:
    """Return what one household or server is taken for: an IPv4 address, 64 bits of an IPv6 one."""
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
