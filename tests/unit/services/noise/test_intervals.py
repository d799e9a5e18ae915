"""Test where the interval around each value of a release begins and ends."""

from tests.unit.worlds import World

from penstock.services.noise.intervals import ends


def test_ends_lie_as_far_off_as_the_margin_of_error_says(visits: World) -> None:
    release = visits.ask("ines").view
    lower, upper = ends(release)
    assert ((lower + upper) / 2).tolist() == release.values.tolist()
    assert set((upper - lower).tolist()) == {2 * release.error.half_width}
