"""Send the log to its second place before the witness sees it, and so before answers.

Everything that the witness saw was stored there.  A server that is stopped between the two sends
some lines again; lines have their place in the log, and a file stores none twice.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session, col, select

from penstock.errors import InvalidInput, LogUnavailable
from penstock.persistence.database import Database
from penstock.persistence.tables.log import Checkpoint, Leaf
from penstock.transparency_log import checkpoints
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.sinks.sink import (
    NOWHERE,
    FileSink,
    Reached,
    Sink,
    checkpoint_line,
    leaf_line,
    unavailable,
)
from penstock.transparency_log.sinks.streams import SocketSink, TcpSink
from penstock.transparency_log.witness.file_witness import Witness

_BATCH = 1000
_RESTORES = (
    select(Leaf)
    .where(col(Leaf.kind) == "restore", col(Leaf.index).is_not(None))
    .order_by(col(Leaf.index).desc())
    .limit(1)
)
_BEFORE = select(Leaf.index, Leaf.hash, Leaf.kind).order_by(col(Leaf.index).desc())


def sink_of(setting: str, patience: float) -> Sink | None:
    """Return the sink that ``PENSTOCK_LOG_SINK`` names, if any.  Raises ``InvalidInput``."""
    kind, _, rest = setting.partition(":")
    if not setting:
        return None
    if kind == "file" and Path(rest).is_absolute():
        return FileSink(Path(rest), patience)
    if kind == "syslog" and Path(rest).is_absolute():
        return SocketSink(rest, patience)
    host, _, port = rest.rpartition(":")
    if kind == "syslog+tcp" and host and port.isdecimal() and 0 < int(port) < 1 << 16:
        return TcpSink(host.strip("[]"), int(port), patience)
    raise InvalidInput(
        f"PENSTOCK_LOG_SINK is {setting!r}; it is empty, file:/PATH, syslog:/PATH of a socket, or"
        " syslog+tcp:HOST:PORT."
    )


@dataclass(frozen=True)
class ForwardingWitness:
    """Hold a ``Witness`` that sees only what ``sink`` has stored."""

    witness: Witness
    sink: Sink
    database: Database

    def seen(self) -> Sight:
        return self.witness.seen()

    def advance(self, sight: Sight) -> None:
        self._forward()
        self.witness.advance(sight)

    def begin(self) -> None:
        self.witness.begin()

    def start_over(self, sight: Sight, instead_of: Sight | None = None) -> None:
        self._forward()
        self.witness.start_over(sight, instead_of)

    def suspend(self, sight: Sight, at: str) -> None:
        self.witness.suspend(sight, at)

    def resume(self) -> None:
        self.witness.resume()

    def _forward(self) -> None:
        try:
            seen = self.witness.seen()
            witnessed = Reached(seen.size, seen.root)
        except LogUnavailable:
            witnessed = None  # lost, and about to start over: a leaf says so
        with self.database.read() as session:
            forward(session, self.sink, witnessed)


def require(witness: Witness) -> None:
    """Raise ``LogUnavailable`` if the log has a second place that stores nothing now."""
    if isinstance(witness, ForwardingWitness):
        witness.sink.health()


def differing(session: Session, witness: Witness) -> Iterator[str]:
    """Yield the differences between a second place in a file and the log in the database."""
    if not isinstance(witness, ForwardingWitness) or not isinstance(witness.sink, FileSink):
        return
    where = f"the log's second place {witness.sink.path}"
    try:
        kept, size = witness.sink.kept()
    except LogUnavailable as problem:
        yield problem.detail
        return
    rows = session.exec(select(Leaf.index, Leaf.hash).where(col(Leaf.index) < size))
    stored = {index: digest for index, digest in rows if index is not None}
    if other := [place for place, digest in kept.items() if stored.get(place) != digest]:
        yield f"{where} has another leaf {other[0]}, and {len(other)} that differ"
    if missing := sorted(stored.keys() - kept.keys()):
        yield f"{where} has no leaf {missing[0]}, and lacks {len(missing)}"
    newest = checkpoints.newest(session)
    if newest is not None and size < newest.size:
        yield f"{where} has {size} leaves, and the log {newest.size}"


def forward(session: Session, sink: Sink, witnessed: Reached | None) -> None:
    """Send the leaves that a sink does not have yet, and the newest checkpoint.

    A sink without a record has what was ``witnessed``.  Raises ``LogUnavailable``, also if the sink
    has another log than this.
    """
    newest = checkpoints.newest(session)
    if newest is None:
        return
    with sink.opened() as taking:
        reached = taking.reached() or witnessed
        first = 0 if reached == NOWHERE else _continued(session, reached)
        if first is None:
            first = _restored(session, taking.hashes())
        if first is None:
            raise unavailable(
                "that PENSTOCK_LOG_SINK names",
                "has another log than the database, and no leaf says that the database was"
                " restored",
            )
        if first < newest.size:
            taking.take(_lines(session, first, newest))


def _continued(session: Session, reached: Reached | None) -> int | None:
    """Return the first leaf that the sink lacks, if the log continues what it has."""
    if reached is None:
        return None
    row = checkpoints.at_size(session, reached.size)
    return reached.size if row is not None and row.root == reached.root else None


def _restored(session: Session, known: Collection[bytes] | None) -> int | None:
    """Return the first new leaf of a restored log, if a new leaf acknowledges the restore.

    A leaf is new if its hash is not ``known``; if that is ``None``, the new leaves are the
    acknowledgment and those before it about the suspension.
    """
    leaf = session.exec(_RESTORES).first()
    if leaf is None or leaf.index is None or (known is not None and leaf.hash in known):
        return None
    first = leaf.index
    for index, digest, kind in session.exec(_BEFORE.where(col(Leaf.index) < leaf.index)):
        if (kind != "suspension") if known is None else (digest in known):
            break
        first = index or 0
    return first


def _lines(session: Session, first: int, newest: Checkpoint) -> Iterator[bytes]:
    for start in range(first, newest.size, _BATCH):
        end = min(start + _BATCH, newest.size)
        rows = session.exec(
            select(Leaf.index, Leaf.hash, Leaf.bytes)
            .where(col(Leaf.index) >= start, col(Leaf.index) < end)
            .order_by(col(Leaf.index))
        )
        for index, digest, content in rows:
            yield leaf_line(index or 0, digest, content)
    yield checkpoint_line(newest.size, newest.root, newest.note)
