"""Test a multiple release that goes on in another process, from the bytes that one left."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import IntegrityViolation, InvalidInput
from penstock.mechanisms import MECHANISMS, Laplace, Mechanism, MultipleRelease
from penstock.mechanisms.serialization import MAGIC, decode, encode
from penstock.randomness import Stream

VALUES = [812, 455, 1290, 0, 3]
LEVELS = (100, 150, 400, 2_500, 40_000)
KEY = b"of the owner's"


class Keyed:
    """Give streams of fixed keys, and count how many were requested."""

    def __init__(self) -> None:
        self.numbers, self.made = count(), 0

    def __call__(self) -> Stream:
        self.made += 1
        return Stream.from_key(bytes([next(self.numbers)]) + bytes(31))


class Disk:
    """Keep what was stored last; be full when told so."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []
        self.full = False

    def __call__(self, state: bytes) -> None:
        if self.full:
            raise OSError("no space left")
        self.kept.append(state)


def begun(kind: type[Mechanism], streams: Keyed, disk: Disk | None = None) -> MultipleRelease:
    mechanism, ladder = kind.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    return MultipleRelease(
        mechanism, ladder, VALUES, 100, streams=streams, fingerprint_key=KEY, keep=disk
    )


def reloaded(state: bytes, streams: Keyed, disk: Disk | None = None) -> MultipleRelease:
    return MultipleRelease.from_state(state, mechanisms=MECHANISMS, streams=streams, keep=disk)


every_mechanism = pytest.mark.parametrize("kind", MECHANISMS.values(), ids=list(MECHANISMS))


@every_mechanism
@settings(max_examples=10)
@given(order=st.permutations(LEVELS))
def test_whoever_reloads_before_every_release_draws_the_same_path(
    kind: type[Mechanism], order: list[int]
) -> None:
    uninterrupted = begun(kind, Keyed())
    streams = Keyed()
    state = begun(kind, streams).state()
    for level in order:
        release = reloaded(state, streams)
        assert np.array_equal(release.at(level), uninterrupted.at(level))
        state = release.state()
    assert state == uninterrupted.state()
    release = reloaded(state, streams)
    release.raise_ceiling(VALUES, 50, fingerprint_key=KEY)
    uninterrupted.raise_ceiling(VALUES, 50, fingerprint_key=KEY)
    for level in (50, 70):
        assert np.array_equal(release.at(level), uninterrupted.at(level))


@every_mechanism
def test_what_was_released_is_never_drawn_anew(kind: type[Mechanism]) -> None:
    release = begun(kind, Keyed())
    handed_out = {level: release.at(level) for level in LEVELS}
    streams = Keyed()
    later = reloaded(release.state(), streams)
    for level, values in handed_out.items():
        assert np.array_equal(later.at(level), values)
    assert later.levels == release.levels
    assert streams.made == 0


def test_a_recipient_who_is_raised_after_reloading_ties_as_often_as_the_path_says() -> None:
    """From scale 2,500 to 400 beside an anchor at 100, atoms on either side."""
    size = 20_000
    mechanism, ladder = Laplace.plan(Fraction(100), step=Fraction(1), bound=Fraction(0))
    first = MultipleRelease(mechanism, ladder, np.zeros(size), 100, streams=Keyed())
    anchor, before = first.at(100), first.at(2_500)
    streams = Keyed()
    for _ in range(10):
        streams()
    raised = reloaded(first.state(), streams).at(400)
    # Unchanged from scale a to b with probability a^2/b^2, whatever happens elsewhere.
    for tied, chance in ((raised == anchor, 1 / 16), (raised == before, 0.0256)):
        expected, deviation = size * chance, (size * chance * (1 - chance)) ** 0.5
        assert abs(tied.sum() - expected) < 6.5 * deviation
    redrawn = MultipleRelease(mechanism, ladder, np.zeros(size), 100, streams=streams).at(400)
    assert (redrawn == before).sum() < 0.0256 * size / 2


def test_a_release_is_kept_before_anybody_sees_it() -> None:
    disk = Disk()
    release = begun(Laplace, Keyed(), disk)
    assert decode(disk.kept[-1]).path.keys() == {rung_of(release, 100)}
    values = release.at(2_500)
    assert len(disk.kept) == 2
    assert np.array_equal(reloaded(disk.kept[-1], Keyed()).at(2_500), values)
    release.at(2_500)
    assert len(disk.kept) == 2
    release.raise_ceiling(VALUES, 50, fingerprint_key=KEY)
    assert disk.kept[-1] == release.state()


def rung_of(release: MultipleRelease, level: int) -> int:
    return release._ladder.rung_at_or_above(Fraction(level))


def test_where_it_cannot_be_kept_nothing_is_released() -> None:
    disk = Disk()
    release = begun(Laplace, Keyed(), disk)
    disk.full = True
    with pytest.raises(OSError, match="no space"):
        release.at(2_500)
    with pytest.raises(OSError, match="no space"):
        release.raise_ceiling(VALUES, 50, fingerprint_key=KEY)
    assert len(release.levels) == 1
    disk.full = False
    values = release.at(2_500)
    assert np.array_equal(reloaded(disk.kept[-1], Keyed()).at(2_500), values)


def test_the_fingerprint_survives_and_its_key_is_not_in_the_state() -> None:
    state = begun(Laplace, Keyed()).state()
    assert KEY not in state
    later = reloaded(state, Keyed())
    with pytest.raises(InvalidInput, match="not the values"):
        later.raise_ceiling([*VALUES[:-1], 4], 50, fingerprint_key=KEY)
    later.raise_ceiling(VALUES, 50, fingerprint_key=KEY)


def test_the_state_holds_no_exact_value() -> None:
    values = np.arange(10**6, 10**6 + 50)
    mechanism, ladder = Laplace.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**7))
    state = MultipleRelease(mechanism, ladder, values, 100, streams=Keyed()).state()
    for value in values:
        for number in (value, value / float(mechanism.granularity)):
            assert np.array(number, dtype="<i8").tobytes() not in state


def test_every_single_byte_counts() -> None:
    state = begun(Laplace, Keyed()).state()
    for position in range(len(state)):
        altered = bytearray(state)
        altered[position] ^= 1
        with pytest.raises(IntegrityViolation):
            reloaded(bytes(altered), Keyed())
    for length in range(len(state)):
        with pytest.raises(IntegrityViolation):
            reloaded(state[:length], Keyed())
    with pytest.raises(IntegrityViolation):
        reloaded(state + b"\0", Keyed())


def forged(change: dict[str, object], *, drop: int = 0) -> bytes:
    """Return a state with another header and a digest that fits."""
    state = begun(Laplace, Keyed()).state()
    length = int.from_bytes(state[10:14], "little")
    header = json.loads(state[14 : 14 + length]) | change
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    values = state[14 + length : -32 - drop]
    content = state[:10] + len(text).to_bytes(4, "little") + text + values
    return content + hashlib.sha256(content).digest()


LADDER = {"doubling": 709, "finest": 1000, "last": 9999, "unit": "1/1048576"}


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "uniform"},
        {"mechanism": ["laplace"]},
        {"granularity": "1/3"},
        {"granularity": "1/0"},
        {"granularity": "2/4"},
        {"rungs": []},
        {"rungs": [-1]},
        {"rungs": [True]},
        {"rungs": [10**9]},
        {"rungs": [2, 1], "size": 0},
        {"size": -1},
        {"size": 6},
        {"fingerprint": "zz"},
        {"fingerprint": 7},
        {"ladder": 7},
        {"ladder": LADDER | {"unit": "-1"}},
        {"ladder": LADDER | {"finest": 0}},
        {"ladder": LADDER | {"doubling": 0}},
        {"ladder": LADDER | {"last": 9999.0}},
        {"ladder": LADDER | {"more": 1}},
        {"more": 1},
    ],
    ids=str,
)
def test_a_header_that_cannot_be_meant_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(IntegrityViolation):
        reloaded(forged(change), Keyed())


def test_the_forger_of_these_tests_changes_what_it_says_and_no_more() -> None:
    assert forged({}) == begun(Laplace, Keyed()).state()
    with pytest.raises(IntegrityViolation):
        reloaded(forged({}, drop=8), Keyed())


def test_a_state_of_a_later_format_says_so() -> None:
    state = begun(Laplace, Keyed()).state()
    with pytest.raises(IntegrityViolation, match="format 2, and this version"):
        reloaded(MAGIC + b"\2\0" + state[10:], Keyed())


def test_a_mechanism_that_is_not_offered_is_refused() -> None:
    state = begun(Laplace, Keyed()).state()
    with pytest.raises(IntegrityViolation, match="accepted are gaussian"):
        MultipleRelease.from_state(state, mechanisms={"gaussian": MECHANISMS["gaussian"]})


def test_a_state_without_the_parts_of_its_mechanism_is_refused() -> None:
    state = decode(begun(MECHANISMS["skellam"], Keyed()).state())
    (rung, kept), *_ = state.path.items()
    halved = replace(state, path={rung: kept[: len(VALUES)]})
    with pytest.raises(IntegrityViolation, match="not a multiple of 2"):
        reloaded(encode(halved), Keyed())


@every_mechanism
def test_there_is_one_encoding(kind: type[Mechanism]) -> None:
    release = begun(kind, Keyed())
    release.at(40_000)
    release.at(400)
    state = release.state()
    assert encode(decode(state)) == state
    assert int.from_bytes(state[8:10], "little") == 1
    # Three releases of five values and their parts, a digest, and a header of some hundred bytes.
    releases = 3 * 5 * 8 * kind.parts
    assert releases + 32 < len(state) < releases + 480
