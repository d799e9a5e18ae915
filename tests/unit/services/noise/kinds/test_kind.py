"""Test what every kind answers unless it says otherwise."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support.processes import gaussian, of_separate_draws
from tests.support.rows import row

from penstock.errors import IntegrityViolation, InvalidInput
from penstock.persistence.tables import Query
from penstock.services.noise.kinds import kind
from penstock.services.noise.kinds.kind import keys_of
from penstock.services.noise.sealing import StoredRelease

QUERY = row(Query, name="visits", dimension=3)


def test_keys_are_positions_where_none_were_given() -> None:
    assert list(keys_of(QUERY)) == [0, 1, 2]
    assert keys_of(row(Query, keys='["a", 7]')) == ["a", 7]


@pytest.mark.parametrize("longest", [0, 10**6], ids=["read anew", "kept"])
def test_keys_of_several_groupings_are_read_from_their_labels(
    monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    monkeypatch.setattr(kind, "_LONGEST_KEPT", longest)
    stored = row(Query, keys='{"labels": [["a", "b"], ["x", "y"]]}')
    for _ in range(2):
        assert list(keys_of(stored)) == [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]]
    assert list(keys_of(row(Query, keys='{"labels": [["c"], ["x"]]}'))) == [["c", "x"]]


def test_an_exact_answer_is_read_in_steps_of_the_lattice() -> None:
    kind = gaussian()
    per_unit = int(1 / kind.mechanism.granularity)
    assert kind.exact(Fraction(1), np.array([2, -1])).tolist() == [2 * per_unit, -per_unit]
    with pytest.raises(InvalidInput, match="not a multiple of the lattice's"):
        kind.exact(kind.mechanism.granularity / 3, np.array([1]))


def test_nothing_is_drawn_without_an_anchor() -> None:
    release = StoredRelease(1, "r", 2, 0, b"sealed")
    assert gaussian().anchored(QUERY, release) is release
    with pytest.raises(IntegrityViolation, match="no release as accurate as its anchor"):
        gaussian().anchored(QUERY, None)


def test_levels_of_separate_draws_are_never_drawn_between_releases() -> None:
    with pytest.raises(IntegrityViolation, match="drawn at its registration"):
        of_separate_draws().anchored(QUERY, StoredRelease(1, "r", 2, 0, b"sealed"))


def test_a_tier_is_shown_its_level_with_guarantee_and_margin_of_error() -> None:
    kind = gaussian()
    shown = kind.at_tier("public", 9, 1e-6)
    assert (shown.tier, shown.level) == ("public", kind.level(9))
    assert (shown.guarantee, shown.error) == (kind.guarantee(9, 1e-6), kind.error(9))
    assert shown.histogram is None


def test_a_vector_counts_as_its_values_and_takes_eight_bytes_for_each() -> None:
    assert gaussian().work(3) == 3
    assert gaussian().size(QUERY) == 8 * 3 * gaussian().mechanism.parts
