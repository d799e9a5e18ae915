"""Test that the example in the package's docstring runs as it stands there."""

import doctest

import penstock.mechanisms


def test_the_example_in_the_packages_docstring_runs() -> None:
    results = doctest.testmod(penstock.mechanisms)
    assert results.attempted >= 4
    assert results.failed == 0
