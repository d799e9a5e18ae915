"""Test the example of the first page: consistent numbers, and the same picture for everybody."""

import itertools

import pytest

from penstock.web.presenters.pages.front_page import EXAMPLE, example


def test_a_larger_epsilon_has_a_smaller_margin_and_all_cost_no_more_than_the_largest() -> None:
    for noisier, better in itertools.pairwise(EXAMPLE.releases):
        assert noisier.epsilon < better.epsilon
        assert noisier.interval.half_width > better.interval.half_width
    assert EXAMPLE.together == pytest.approx(EXAMPLE.releases[-1].epsilon, rel=1e-3)
    assert EXAMPLE.together is not None
    assert EXAMPLE.independent is not None
    assert EXAMPLE.independent > EXAMPLE.together


def test_the_example_is_drawn_once() -> None:
    assert example() is example()
    for release in EXAMPLE.releases:
        assert release.tier in example().drawn
