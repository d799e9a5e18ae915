import gc
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from penstock.errors import InvalidInput
from penstock.mechanisms import (
    MECHANISMS,
    Gaussian,
    IntVector,
    Mechanism,
    MultipleRelease,
    draw_anchor,
    place,
    raise_anchor,
)
from penstock.randomness import Stream

MECHANISM, LADDER = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
STEPS = Gaussian(Fraction(1))
VALUES = [812, 455, 1290, 0, -3]
LOW, MIDDLE, HIGH = (Fraction(n << 20) for n in (1, 2, 4))


class Keyed:
    """Give streams of fixed keys, and count how many were requested."""

    def __init__(self, label: int = 0) -> None:
        self.label, self.numbers, self.made = label, count(), 0

    def __call__(self) -> Stream:
        self.made += 1
        return Stream.from_key(bytes([self.label, next(self.numbers)]) + bytes(30))


def _release(streams: Keyed | None = None, *, key: bytes | None = None) -> MultipleRelease:
    return MultipleRelease(
        MECHANISM, LADDER, VALUES, 100, streams=streams or Keyed(), fingerprint_key=key
    )


def _vector(*values: int) -> IntVector:
    return np.array(values, dtype=np.int64)


def test_the_anchor_is_the_exact_vector_plus_one_increment() -> None:
    exact = _vector(5, 1000, -7)
    anchor = draw_anchor(STEPS, exact, LOW, Keyed()())
    noise = STEPS.increment(Fraction(0), LOW, 3, Keyed()())
    assert np.array_equal(anchor, exact + noise)
    assert exact.tolist() == [5, 1000, -7]


def test_a_release_between_neighbors_is_the_accurate_one_plus_a_bridge() -> None:
    near, far = _vector(5, 1000, -7), _vector(900, 3000, 45)
    placed = place(STEPS, (LOW, near), (HIGH, far), MIDDLE, Keyed()())
    noise = STEPS.bridge(LOW, HIGH, far - near, MIDDLE, Keyed()())
    assert np.array_equal(placed, near + noise)


def test_the_noisiest_release_is_the_one_before_plus_an_increment() -> None:
    near = _vector(5, 1000, -7)
    placed = place(STEPS, (LOW, near), None, HIGH, Keyed()())
    assert np.array_equal(placed, near + STEPS.increment(LOW, HIGH, 3, Keyed()()))


def test_raising_bridges_from_the_exact_vector_to_the_anchor() -> None:
    exact, anchor = _vector(5, 1000, -7), _vector(900, 3000, 45)
    raised = raise_anchor(STEPS, exact, (HIGH, anchor), LOW, Keyed()())
    noise = STEPS.bridge(Fraction(0), HIGH, anchor - exact, LOW, Keyed()())
    assert np.array_equal(raised, exact + noise)


def test_the_neighbors_are_left_as_they_are() -> None:
    near, far = _vector(5, 1000), _vector(900, 3000)
    place(STEPS, (LOW, near), (HIGH, far), MIDDLE, Keyed()())
    raise_anchor(STEPS, near, (HIGH, far), LOW, Keyed()())
    assert near.tolist() == [5, 1000]
    assert far.tolist() == [900, 3000]


def test_room_for_the_difference_changes_nothing_but_itself() -> None:
    near, far = _vector(5, 1000), _vector(900, 3000)
    usual = place(STEPS, (LOW, near), (HIGH, far), MIDDLE, Keyed()())
    release = place(STEPS, (LOW, near), (HIGH, far), MIDDLE, Keyed()(), room=far)
    assert release.tolist() == usual.tolist()
    assert near.tolist() == [5, 1000]
    assert far.tolist() == [895, 2000]


def test_without_a_more_accurate_release_nothing_is_placed() -> None:
    with pytest.raises(InvalidInput, match="draw the anchor"):
        place(STEPS, None, (HIGH, _vector(1)), MIDDLE, Keyed()())


def test_neighbors_of_other_sizes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="has 1 values, its stored neighbor 2"):
        place(STEPS, (LOW, _vector(1)), (HIGH, _vector(1, 2)), MIDDLE, Keyed()())
    with pytest.raises(InvalidInput, match="has 1 values"):
        raise_anchor(STEPS, _vector(1), (HIGH, _vector(1, 2)), LOW, Keyed()())


@pytest.mark.parametrize("level", [LOW, HIGH, HIGH * 2, LOW / 2])
def test_levels_that_are_not_between_the_neighbors_are_refused(level: Fraction) -> None:
    with pytest.raises(InvalidInput, match="must increase"):
        place(STEPS, (LOW, _vector(1)), (HIGH, _vector(2)), level, Keyed()())


def test_asking_again_returns_the_same_and_draws_nothing() -> None:
    streams = Keyed()
    release = _release(streams)
    first = release.at(2_500)
    made = streams.made
    first_again = release.at(2_500)
    assert np.array_equal(first, first_again)
    assert streams.made == made


def test_every_release_has_a_stream_of_its_own() -> None:
    streams = Keyed()
    release = _release(streams)
    for level in (400, 40_000, 2_500):
        release.at(level)
    assert streams.made == 4


def test_what_is_handed_out_can_be_changed_without_changing_what_is_held() -> None:
    release = _release()
    handed_out = release.at(400)
    expected = handed_out.copy()
    handed_out[:] = 0
    assert np.array_equal(release.at(400), expected)


def test_levels_between_rungs_take_the_next_with_more_noise() -> None:
    release = _release()
    rung = LADDER.rung_at_or_above(Fraction(500))
    assert np.array_equal(release.at(500), release.at(LADDER.value(rung)))
    assert np.array_equal(release.at(LADDER.value(rung - 1) + Fraction(1, 10**9)), release.at(500))
    assert LADDER.value(rung) in release.levels


@settings(max_examples=25)
@given(st.permutations([100, 150, 400, 2_500, 40_000, 10**6]))
def test_any_order_gives_every_level_once_and_remembers_it(order: list[int]) -> None:
    release = _release()
    given_out = {level: release.at(level) for level in order}
    assert list(release.levels) == sorted(release.levels)
    assert len(release.levels) == len(order)
    for level in reversed(order):
        assert np.array_equal(release.at(level), given_out[level])


def test_values_come_back_in_their_own_units() -> None:
    released = _release().at(100)
    assert released.dtype == np.float64
    assert np.abs(released - VALUES).max() < 60
    assert np.array_equal(released / 2.0**-14, np.rint(released / 2.0**-14))


@pytest.mark.parametrize(
    "values", [VALUES, [float(value) for value in VALUES], np.array(VALUES, dtype=np.int32)]
)
def test_integers_and_floats_on_the_lattice_are_the_same_vector(values: ArrayLike) -> None:
    release = MultipleRelease(MECHANISM, LADDER, values, 100, streams=Keyed())
    assert np.array_equal(release.at(100), _release().at(100))


@pytest.mark.parametrize("kind", MECHANISMS.values(), ids=list(MECHANISMS))
def test_every_mechanism_is_released_in_any_order_around_the_exact_values(
    kind: type[Mechanism],
) -> None:
    mechanism, ladder = kind.plan(Fraction(100), step=Fraction(1), bound=Fraction(1000))
    exact = np.arange(1000)
    release = MultipleRelease(mechanism, ladder, exact, 100, streams=Keyed())
    for level in (1000, 300, 100):
        deviation = mechanism.error(Fraction(level), 0.95).standard_deviation
        errors = release.at(level) - exact
        assert abs(errors.mean()) < 6 * deviation / 1000**0.5
        assert errors.std() == pytest.approx(deviation, rel=0.25)
    release.raise_ceiling(exact, 50)
    assert abs((release.at(50) - exact).mean()) < 6 * 100 / 1000**0.5


def test_levels_above_the_ceiling_are_refused() -> None:
    with pytest.raises(InvalidInput, match="draw the anchor, or raise it"):
        _release().at(50)


@pytest.mark.parametrize("level", [float("nan"), float("inf"), -float("inf")])
def test_levels_that_are_no_finite_numbers_are_refused(level: float) -> None:
    with pytest.raises(InvalidInput, match="finite"):
        _release().at(level)
    with pytest.raises(InvalidInput, match="finite"):
        MultipleRelease(MECHANISM, LADDER, VALUES, level, streams=Keyed())


def test_levels_beyond_the_ladder_are_refused() -> None:
    with pytest.raises(InvalidInput, match="noisier than the noisiest"):
        _release().at(1e30)


def test_raising_the_ceiling_opens_accurate_levels_and_changes_no_other() -> None:
    release = _release()
    before = {level: release.at(level) for level in (100, 2_500)}
    release.raise_ceiling(VALUES, 25)
    assert np.abs(release.at(25) - VALUES).max() < 30
    release.at(50)
    for level, known in before.items():
        assert np.array_equal(release.at(level), known)
    with pytest.raises(InvalidInput, match="raise it"):
        release.at(10)


@pytest.mark.parametrize("ceiling", [100, 101, 5_000])
def test_a_ceiling_that_is_no_higher_is_refused(ceiling: int) -> None:
    with pytest.raises(InvalidInput, match="not more accurate"):
        _release().raise_ceiling(VALUES, ceiling)


def test_with_a_fingerprint_other_values_and_other_keys_are_refused() -> None:
    release = _release(key=b"a key of the caller's")
    others = [*VALUES[:-1], VALUES[-1] + 1]
    for values, key in ((others, b"a key of the caller's"), (VALUES, b"another"), (VALUES, None)):
        with pytest.raises(InvalidInput, match="not the values"):
            release.raise_ceiling(values, 25, fingerprint_key=key)
    release.raise_ceiling(VALUES, 25, fingerprint_key=b"a key of the caller's")


def test_values_of_another_size_are_refused_when_raising() -> None:
    with pytest.raises(InvalidInput, match="has 1 values"):
        _release().raise_ceiling([1], 25)


def test_the_exact_values_are_dropped_once_the_anchor_is_drawn() -> None:
    release = _release(key=b"key")
    exact = np.array(VALUES, dtype=np.int64) * 2**14
    seen: list[object] = [release]
    known = set()
    while seen:
        thing = seen.pop()
        if id(thing) in known or isinstance(thing, type):
            continue
        known.add(id(thing))
        if isinstance(thing, np.ndarray):
            assert not np.array_equal(thing, exact)
            assert not np.array_equal(thing, VALUES)
        elif not callable(thing):
            seen += gc.get_referents(thing)
    assert len(known) > 10
