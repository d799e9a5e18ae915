"""Test that every false statement of a server about its log raises a typed error."""

import base64
import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from tests.client.servers.hosts import (
    CHECKPOINT,
    CONSISTENCY,
    INCLUSION,
    RELEASES,
    Host,
    canonical,
    ed25519,
    session,
)

from penstock_client import LogRefused, ProtocolError

Answer = dict[str, Any]
Change = Callable[[Host, Answer], object]


def twice(lies: Mapping[str, object]) -> Iterator[Any]:
    """Yield each lie for a client that remembers nothing; named lies also for one that remembers.

    Of the two cases of a named lie, one alternately runs at every change, the other every night.
    """
    for place, lie in enumerate(lies):
        if "odd" in lie:
            yield pytest.param(lie, False)
        else:
            for known in (False, True):
                marks = [pytest.mark.nightly] if known == bool(place % 2) else []
                yield pytest.param(lie, known, marks=marks)


ODD: list[object] = [
    None, True, -1, 0, 1.5, 10**400, "", "\ud800", "z" * 64, "ab" * 31,
    "\N{FULLWIDTH DIGIT ONE}" * 64, [], [[]], ["ab" * 32] * 300, {"a": 1}, "x" * 60_000,
]  # fmt: skip


def field(name: str, odd: object) -> Change:
    return lambda _, answer: {**answer, name: odd}


def with_note(change: Callable[[Host, str], str]) -> Change:
    return lambda host, answer: {**answer, "note": change(host, answer["note"])}


def signed(*lines: object) -> Change:
    """Return a change to a checkpoint with other lines and a valid signature."""

    def change(host: Host, answer: Answer) -> Answer:
        words = {"NAME": host.name, "ROOT": base64.b64encode(host.root(6)).decode()}
        text = "".join(f"{words.get(str(line), line)}\n" for line in lines)
        return {**answer, "note": host.signed(text)}

    return change


def other_signer(host: Host, answer: Answer) -> Answer:
    """Return the log's checkpoint, signed by another key."""
    other = Host({})
    other.key = ed25519(9)
    text = answer["note"].partition("\n\n")[0] + "\n"
    tag = hashlib.sha256(host.name.encode() + b"\n\x01" + host.public).digest()[:4]
    signature = base64.b64encode(tag + other.key.sign(text.encode())).decode()
    return {**answer, "note": f"{text}\n\u2014 {host.name} {signature}\n"}


NOTES: dict[str, Change] = {
    "another signer": other_signer,
    "another origin": signed("penstock/0123456789abcdef", 6, "ROOT"),
    "origin twice": signed("NAME", "NAME", 6, "ROOT"),
    "size twice": signed("NAME", 6, 6, "ROOT"),
    "no size": signed("NAME", "ROOT", "ROOT"),
    "no root": signed("NAME", 6),
    "size 0": signed("NAME", 0, base64.b64encode(hashlib.sha256().digest()).decode()),
    "size 06": signed("NAME", "06", "ROOT"),
    "size +6": signed("NAME", "+6", "ROOT"),
    "size -6": signed("NAME", "-6", "ROOT"),
    "size 6_0": signed("NAME", "6_0", "ROOT"),
    "size in other digits": signed("NAME", "\N{ARABIC-INDIC DIGIT SIX}", "ROOT"),
    "size with a space": signed("NAME", "6 ", "ROOT"),
    "size beyond all": signed("NAME", 10**30, "ROOT"),
    "size of many digits": signed("NAME", "6" * 5000, "ROOT"),
    "another size": signed("NAME", 7, "ROOT"),
    "another root": signed("NAME", 6, base64.b64encode(bytes(32)).decode()),
    "short root": signed("NAME", 6, base64.b64encode(bytes(31)).decode()),
    "root of other letters": signed("NAME", 6, "\u00e9" * 44),
    "an empty line": signed("NAME", 6, "", "ROOT"),
    "no signature": with_note(lambda _, note: note.partition("\u2014")[0]),
    "no line end": with_note(lambda _, note: note.rstrip("\n")),
    "line ends of Windows": with_note(lambda _, note: note.replace("\n", "\r\n")),
    "more behind": with_note(lambda _, note: f"{note}\n"),
    "text behind": with_note(lambda _, note: f"{note}more\n"),
    "signed twice": with_note(lambda _, note: note + note.partition("\n\n")[2]),
    "truncated base64": with_note(lambda _, note: note[:-6] + "\n"),
    "base64 with line ends": with_note(lambda _, note: note[:-20] + "\n" + note[-20:]),
    "a short signature": with_note(lambda _, note: note[:-9] + "=\n"),
    "another dash": with_note(lambda _, note: note.replace("\u2014", "-")),
}

CHECKPOINTS: dict[str, Change] = {
    **NOTES,
    "the key of another log": lambda _, answer: {
        **answer,
        "key": ed25519(9).public_key().public_bytes_raw().hex(),
    },
    "a list": lambda _, answer: [answer],
    "nothing": lambda *_: {},
    "a long answer": lambda _, answer: {**answer, "more": "x" * 70_000},
    "not Unicode": lambda *_: httpx.Response(
        200, headers={"Content-Type": "application/json"}, content=b'{"size": "\xff\xfe"}'
    ),
    "a number of many digits": lambda *_: httpx.Response(
        200, headers={"Content-Type": "application/json"}, content=b'{"size": ' + b"9" * 6000 + b"}"
    ),
    "an older one": lambda host, answer: {**answer, "note": host.note(5)},
    **{
        f"odd {name} {number}": field(name, odd)
        for name in ("size", "root_hash", "key", "note")
        for number, odd in enumerate(ODD)
    },
}


@pytest.mark.parametrize(("lie", "known"), list(twice(CHECKPOINTS)))
def test_no_other_checkpoint_is_believed(host: Host, lie: str, known: bool) -> None:
    if known:
        session(host).verify()
    host.changed[CHECKPOINT] = lambda answer: CHECKPOINTS[lie](host, answer)
    with pytest.raises((LogRefused, ProtocolError)):
        session(host).verify()
    with pytest.raises((LogRefused, ProtocolError)):
        session(host).release("flights_by_carrier")
    host.changed.clear()
    assert session(host).verify().size == len(host.leaves)


def test_a_checkpoint_is_refused_before_it_is_read_to_its_end(host: Host) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65_536

    headers = {"Content-Type": "application/json"}
    for path in (CHECKPOINT, INCLUSION):
        host.changed = {path: lambda _: httpx.Response(200, headers=headers, content=endless())}
        with pytest.raises(ProtocolError, match="larger than 65,536 bytes"):
            session(host).release("flights_by_carrier")
    assert sent < 10


def odd_hash(odd: object) -> Change:
    return lambda _, answer: {"hashes": [odd, *answer["hashes"][1:]]}


PROOFS: dict[str, Change] = {
    "none": lambda *_: {"hashes": []},
    "one too few": lambda _, answer: {"hashes": answer["hashes"][:-1]},
    "one too few in front": lambda _, answer: {"hashes": answer["hashes"][1:]},
    "one too many": lambda _, answer: {"hashes": [*answer["hashes"], "ab" * 32]},
    "one too many in front": lambda _, answer: {"hashes": ["ab" * 32, *answer["hashes"]]},
    "the last twice": lambda _, answer: {"hashes": [*answer["hashes"], answer["hashes"][-1]]},
    "the other way round": lambda _, answer: {"hashes": answer["hashes"][::-1]},
    "a hundred too many": lambda _, answer: {"hashes": answer["hashes"] * 100},
    "hashes cut": lambda _, answer: {"hashes": [text[:-2] for text in answer["hashes"]]},
    "roots": lambda host, answer: {"hashes": [host.root(6).hex() for _ in answer["hashes"]]},
    "a list": lambda _, answer: answer["hashes"],
    "no JSON": lambda *_: httpx.Response(
        200, headers={"Content-Type": "application/json"}, content=b"{"
    ),
    **{f"odd {number}": field("hashes", odd) for number, odd in enumerate(ODD)},
    **{f"odd hash {number}": odd_hash(odd) for number, odd in enumerate(ODD)},
}


@pytest.mark.parametrize("path", [CONSISTENCY, INCLUSION])
@pytest.mark.parametrize("lie", PROOFS)
def test_no_other_proof_is_believed(host: Host, path: str, lie: str) -> None:
    session(host).verify()
    host.leaves += [canonical(v=1, more=number) for number in range(5)]
    host.changed[path] = lambda answer: PROOFS[lie](host, answer)
    with pytest.raises((LogRefused, ProtocolError)):
        session(host).release("flights_by_carrier")
    host.changed.clear()
    assert session(host).release("flights_by_carrier").receipt.index == 11


def in_receipt(change: Change) -> Change:
    return lambda host, answer: {**answer, "receipt": change(host, answer["receipt"])}


def of_leaf(**fields: object) -> Change:
    """Return a change to the receipt of another leaf that the log contains."""

    def change(host: Host, answer: Answer) -> Answer:
        leaf = canonical(**{**json.loads(answer["receipt"]["leaf"]), **fields})
        host.leaves.append(leaf)
        return {**answer, "receipt": host.receipt(len(host.leaves) - 1)}

    return change


def of_text(change: Callable[[str], str]) -> Change:
    """Return a change to a leaf in another spelling that the log contains."""

    def changed(host: Host, answer: Answer) -> Answer:
        host.leaves.append(change(answer["receipt"]["leaf"]).encode())
        return {**answer, "receipt": host.receipt(len(host.leaves) - 1)}

    return changed


def beyond(host: Host, answer: Answer) -> Answer:
    """Return an answer whose leaf is in the log, but after its checkpoint."""
    receipt = {**answer["receipt"], "checkpoint": host.note(answer["receipt"]["index"])}
    return {**answer, "receipt": receipt}


def unlogged(host: Host, answer: Answer) -> Answer:
    """Return an answer whose receipt shows the right leaf but proves another one."""
    leaf = answer["receipt"]["leaf"]
    host.leaves.append(canonical(**{**json.loads(leaf), "user": "bob"}))
    return {**answer, "receipt": {**host.receipt(len(host.leaves) - 1), "leaf": leaf}}


def of_more(host: Host, answer: Answer) -> Answer:
    """Return an answer whose checkpoint is of a log that nobody else is shown."""
    other = copy.copy(host)
    other.leaves = [*host.leaves, canonical(v=1, hidden=True)]
    return {**answer, "receipt": {**answer["receipt"], "checkpoint": other.note(8)}}


def forked(host: Host, answer: Answer) -> Answer:
    other = copy.copy(host)
    other.leaves = [canonical(v=1, hidden=True), *host.leaves[1:]]
    return {**answer, "receipt": {**answer["receipt"], "checkpoint": other.note(7)}}


def of_note(change: Change) -> Change:
    """Return a change that makes the receipt's checkpoint invalid."""

    def changed(host: Host, answer: Answer) -> Answer:
        note: Any = change(host, {"note": answer["receipt"]["checkpoint"]})
        return {**answer, "receipt": {**answer["receipt"], "checkpoint": note["note"]}}

    return changed


RECEIPTS: dict[str, Change] = {
    **{name: of_note(change) for name, change in NOTES.items() if name not in ("another size",)},
    "another release": of_leaf(release="rel_2"),
    "another reader": of_leaf(user="bob"),
    "another query": of_leaf(query="visits"),
    "another dataset": of_leaf(dataset="sites"),
    "another level": of_leaf(level={"parameter": "variance", "value": 4056}),
    "another kind": of_leaf(kind="query"),
    "a leaf that says it twice": of_text(lambda leaf: '{"user":"bob",' + leaf[1:]),
    "a leaf with spaces": of_text(lambda leaf: leaf.replace(":", ": ")),
    "a leaf in a list": of_text(lambda leaf: f"[{leaf}]"),
    "a leaf with NaN": of_text(lambda leaf: leaf.replace("2028", "NaN")),
    "a deep leaf": of_text(lambda _: "[" * 50_000),
    "a leaf that is not in the log": unlogged,
    "beyond its checkpoint": beyond,
    "of a longer log": of_more,
    "of a fork": forked,
    "a list": lambda _, answer: {**answer, "receipt": [answer["receipt"]]},
    "none": lambda _, answer: {**answer, "receipt": None},
    "empty": lambda _, answer: {**answer, "receipt": {}},
    "without a leaf": in_receipt(lambda _, receipt: {**receipt, "leaf": None}),
    "without a checkpoint": in_receipt(lambda _, receipt: {**receipt, "checkpoint": None}),
    "without a place": in_receipt(lambda _, receipt: {**receipt, "index": None}),
    "the place of another": in_receipt(lambda _, receipt: {**receipt, "index": 5}),
    "the hash of another": in_receipt(
        lambda host, receipt: {**receipt, "leaf_hash": host.receipt(5)["leaf_hash"]}
    ),
    **{
        f"odd {name} {number}": in_receipt(field(name, odd))
        for name in ("index", "leaf_hash", "leaf", "checkpoint")
        for number, odd in enumerate(ODD)
    },
}


@pytest.mark.parametrize(("lie", "known"), list(twice(RECEIPTS)))
def test_no_other_receipt_is_believed(host: Host, lie: str, known: bool) -> None:
    if known:
        assert session(host).release("flights_by_carrier").receipt.index == 6
    host.changed[RELEASES] = lambda answer: RECEIPTS[lie](host, answer)
    with pytest.raises((LogRefused, ProtocolError)):
        session(host).release("flights_by_carrier")
    host.changed.clear()
    assert session(host).release("flights_by_carrier").receipt.index == 6


def test_a_log_without_leaves_has_no_checkpoint(host: Host) -> None:
    """Every later log would continue an empty one."""
    host.leaves = []
    with pytest.raises(LogRefused, match="states no valid size"):
        session(host).verify()
