"""Test that a target names a quantity by the word that specs use, and its confidence by default."""

import pytest

from penstock.privacy import Target, TargetKind


@pytest.mark.parametrize("kind", TargetKind)
def test_every_kind_is_written_as_in_a_spec(kind: TargetKind) -> None:
    assert TargetKind(str(kind)) is kind
    assert str(kind) == kind.name.lower()


def test_a_half_width_is_that_of_95_percent_unless_stated() -> None:
    assert Target(TargetKind.HALF_WIDTH, 3.0) == Target(TargetKind.HALF_WIDTH, 3.0, 0.95)
    assert Target(TargetKind.HALF_WIDTH, 3.0, 0.9) != Target(TargetKind.HALF_WIDTH, 3.0)


def test_other_words_name_no_quantity() -> None:
    with pytest.raises(ValueError, match="variance"):
        TargetKind("variance")
