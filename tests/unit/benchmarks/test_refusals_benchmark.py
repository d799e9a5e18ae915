"""Test the benchmark of what the clock tells: it runs, and refuses answers that are not alike."""

import pytest
from tests.benchmarks.served import refusals
from tests.benchmarks.served.readers import Heard


def answers(*bodies: bytes, status: int = 404) -> list[Heard]:
    return [Heard(status, body, 0.001) for body in bodies]


@pytest.mark.nightly
def test_refusals_and_first_grants_are_compared_at_each_quantum() -> None:
    said: list[str] = []
    setting = refusals.Setting(
        refusals=40, grants=16, levels=4, names=2, values=5, quanta=(0.0, 0.01), workers=1
    )
    figures = refusals.measure(setting, said.append)
    assert said == ["40 refusals and 16 first grants at each quantum."]
    distances = [figure for figure in figures if figure.name.endswith("distance")]
    assert len(figures) == 3 * len(distances) == 12
    assert all(0 <= figure.value <= 1 for figure in distances)
    # Bounds are for the quantum alone, and wider for fewer answers.
    assert [figure.goal and f"{figure.goal.bound:.3f}" for figure in distances] == [
        *(None, None, "0.515", "0.814")
    ]
    waited = [figure.value for figure in figures if "10 ms" in figure.name and figure.unit]
    assert all(value >= 10 for value in waited)


def test_the_distance_is_0_of_equal_samples_and_1_of_disjoint_ones() -> None:
    assert refusals.distance([1, 2, 3], [1, 2, 3]) == 0
    assert refusals.distance([1, 2, 3], [4, 5, 6]) == 1
    assert refusals.distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5


@pytest.mark.parametrize(
    "forbidden", [answers(b"other"), answers(b"long er"), answers(b"same", status=403)]
)
def test_refusals_that_are_not_alike_are_refused(forbidden: list[Heard]) -> None:
    alike = {"missing": answers(b"same"), "forbidden": answers(b"else")}
    refusals._check_refusals(alike)
    with pytest.raises(AssertionError):
        refusals._check_refusals({**alike, "forbidden": forbidden})


def test_a_draw_that_was_stored_and_a_find_that_was_not_are_refused() -> None:
    drawn, found = (answers(b'{"id": "%s"}' % name, status=200) for name in (b"a", b"b"))
    refusals._check_grants({"drawn": drawn, "found": found}, {"b"})
    for stored in (set(), {"a", "b"}):
        with pytest.raises(AssertionError):
            refusals._check_grants({"drawn": drawn, "found": found}, stored)
    with pytest.raises(AssertionError):
        refusals._check_grants({"found": answers(b'{"id": "b"}')}, {"b"})
