"""Test that texts are shortened, wrapped and kept apart, so that each fits its place."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from tests.web.charts.pictures import LONG

from penstock.web.charts.drawing.lettering import fitted, shown, spread, width_of, wrapped


@given(st.text(max_size=300), st.floats(20, 400))
def test_a_fitted_text_fits(text: str, room: float) -> None:
    kept = fitted(text, room)
    assert width_of(kept) <= room + 1e-6
    assert kept == shown(text) or (kept.endswith("…") and shown(text).startswith(kept[:-1]))


def test_a_family_is_not_torn_apart() -> None:
    family = "👩‍👩‍👧‍👦"
    room = width_of(f"a{family}") - 3 + width_of("…")
    assert fitted(f"a{family}{LONG}", room) == "a…"


@given(st.text(max_size=300))
def test_wrapped_lines_fit(text: str) -> None:
    assert all(width_of(line) <= 100 + 1e-6 for line in wrapped(text, 100))


def test_wrapping_keeps_all_words_that_fit() -> None:
    assert " ".join(wrapped(LONG, 120)) == LONG.strip()


@given(st.lists(st.floats(0, 200), max_size=8))
def test_labels_are_kept_apart_and_above_the_lowest(wanted: list[float]) -> None:
    placed = spread(wanted, 16, 200)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    heights = [placed[place] for place in order]
    assert all(b - a >= 16 - 1e-9 for a, b in itertools.pairwise(heights))
    assert all(height <= 200 for height in heights)
