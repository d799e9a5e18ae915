"""The example that the README shows: many releases of a vector, no server, no database."""

from fractions import Fraction

import numpy as np


def test_the_readmes_example_releases_a_vector_in_arbitrary_order() -> None:
    from penstock.mechanisms import Gaussian, MultipleRelease

    visits = [812, 455, 1290]  # exact counts; one person changes one of them by 1

    # variance 100 is the most accurate level anybody will see
    gaussian, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    release = MultipleRelease(gaussian, ladder, visits, ceiling=100)

    public = release.at(40_000)  # standard deviation 200
    team = release.at(100)  # 10: asked for later, more accurate
    partners = release.at(2_500)  # 50: between the two
    assert (release.at(2_500) == partners).all()  # asked again: the same numbers

    # pooling all three tells no more than team does alone
    for values, deviation in ((public, 200), (team, 10), (partners, 50)):
        assert values.shape == (3,)
        assert np.abs(values - visits).max() < 12 * deviation


def test_the_example_in_the_packages_docstring_runs() -> None:
    import doctest

    import penstock.mechanisms

    results = doctest.testmod(penstock.mechanisms)
    assert results.attempted >= 4
    assert results.failed == 0
