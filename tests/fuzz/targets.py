"""Feed bytes to each parser; what a target raises is a finding, unless it is Penstock's own error.

A checksum in front of a parser is made right first, so that what is behind it is reached too.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from penstock.cli.specs import checked, content_of
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.sql.grammar import parsed
from penstock.encryption import Key, RowIdentity, open_envelope, seal
from penstock.encryption.envelope import open_key
from penstock.errors import PenstockError
from penstock.http.bearer import presented
from penstock.mechanisms.serialization import State, decode, encode
from penstock.privacy.level import Ladder
from penstock.services.access.token_format import prefix_of, well_formed
from penstock.services.schemas.requests.specs import AskRequest

LIMIT: Final = 1 << 20
"""Bytes of the largest spec that is read."""

KEY: Final = Key(bytes(range(32)))
ROW: Final = RowIdentity(table="release", dataset="visits@1", length=2, type="int64")


@dataclass(frozen=True)
class Target:
    """Hold a function that parses any bytes, and a corpus to begin with."""

    parse: Callable[[bytes], None]
    corpus: tuple[bytes, ...]


def _attempts(*attempts: Callable[[], object]) -> None:
    """Make each attempt, whatever Penstock refuses in the others."""
    for attempt in attempts:
        try:
            attempt()
        except PenstockError:
            continue


def tokens(data: bytes) -> None:
    """Read a token from a header, as it is and with the checksum that it should have."""
    text = data.decode("latin-1")
    body = text.rpartition("_")[0]
    for token in (presented(text), f"{body}_{zlib.crc32(body.encode()):08x}"):
        if well_formed(token):
            prefix_of(token)


def states(data: bytes) -> None:
    """Read the state of a multiple release, as it is and with a right digest."""
    _attempts(lambda: decode(data), lambda: decode(data + hashlib.sha256(data).digest()))


def specs(data: bytes) -> None:
    """Read a file as the spec of a query and of a dataset, in JSON and in TOML."""
    with TemporaryDirectory() as folder:
        for name in ("spec.json", "spec.toml"):
            file = Path(folder) / name
            file.write_bytes(data)
            _attempts(
                lambda: checked(AskRequest, content_of(str(file), LIMIT)),  # noqa: B023  # called here
                lambda: checked(DatasetSpec, content_of(str(file), LIMIT)),  # noqa: B023
            )


def sql(data: bytes) -> None:
    """Read a statement."""
    _attempts(lambda: parsed(data.decode("utf-8", "replace")))


def envelopes(data: bytes) -> None:
    """Open an envelope, behind a right beginning too, and a key of any length that is sealed."""
    _attempts(
        lambda: open_envelope(KEY, data, ROW),
        lambda: open_envelope(KEY, bytes((1, 1)) + KEY.id + data, ROW),
        lambda: open_key(KEY, data, ROW),
        lambda: open_key(KEY, seal(KEY, data, ROW), ROW),
    )


def careless(data: bytes) -> None:
    """Let the errors of a library out: a parser as none should be."""
    _attempts(lambda: json.loads(data))


def _states() -> Iterator[bytes]:
    ladder = Ladder(finest=100, unit=Fraction(1), last=10, doubling=1)
    for rungs in ((0,), (0, 3, 10)):
        path = {rung: np.arange(2, dtype=np.int64) for rung in rungs}
        whole = encode(State("laplace", Fraction(1, 8), ladder, path, b"of the owner's"))
        yield whole
        yield whole[:-32]


def _token() -> bytes:
    body = f"pst_{'a' * 8}_{'A' * 43}"
    return f"{body}_{zlib.crc32(body.encode()):08x}".encode()


_SPECS: Final = (
    {"kind": "histogram", "name": "visits by age", "columns": ["age"], "max_rows": 1},
    {"kind": "sql", "name": "visits", "sql": "SELECT COUNT(*) AS n FROM visits"},
    {"name": "visits", "columns": {"age": {"type": "integer", "lower": 0, "upper": 120}}},
)

TARGETS: Final = {
    "tokens": Target(tokens, (_token(), b"Bearer " + _token())),
    "states": Target(states, tuple(_states())),
    "specs": Target(
        specs,
        (*(json.dumps(spec).encode() for spec in _SPECS), b'name = "visits"\n[columns.age]\nx = 1'),
    ),
    "sql": Target(
        sql,
        (
            b"SELECT COUNT(*) AS n FROM visits",
            b'SELECT age, SUM(CAST(cost AS DOUBLE)) FROM "visits" AS v WHERE age BETWEEN 1 AND 9',
            b"SELECT n FROM visits WHERE NOT city IN ('x') GROUP BY age HAVING COUNT(*) > 3",
        ),
    ),
    "envelopes": Target(envelopes, (seal(KEY, b"content", ROW), seal(KEY, bytes(32), ROW))),
}
"""The parsers that are fuzzed."""

BROKEN: Final = {"careless": Target(careless, (b'{"a": 1}',))}
"""What the same harness must report."""
