"""Test what drawn figures share."""

import pytest

from penstock.experiments.draws import check, streams_of


def test_streams_of_a_label_are_the_same_every_time_and_differ_from_each_other() -> None:
    first, again = streams_of("a"), streams_of("a")
    drawn = [first().raw_uint64(2).tolist() for _ in range(2)]
    assert [again().raw_uint64(2).tolist() for _ in range(2)] == drawn
    assert drawn[0] != drawn[1]


def test_a_law_that_does_not_hold_ends_the_run() -> None:
    check(holds=True, what="nothing")
    with pytest.raises(ArithmeticError, match="another law: a variance off by 2"):
        check(holds=False, what="a variance off by 2")
