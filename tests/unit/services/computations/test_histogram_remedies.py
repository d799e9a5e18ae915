"""Test that a sparse histogram that is refused is told what fits, and each remedy is accepted."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.computations import computations, histogram_remedies, wire
from penstock.services.computing import Here
from penstock.services.datasets import corrections, datasets
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.schemas import histograms
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.queries import DatasetRequest, HistogramRequest

LOANS: dict[str, Any] = {
    "name": "loans",
    "source": {"engine": "duckdb"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {"person": {"type": "string"}, "book": {"type": "integer"}},
}
BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 0.1,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
}
LEVELS = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.3}}
DEMO = {"public": {"epsilon": 1}, "partner": {"epsilon": 2}, "internal": {"epsilon": 8}}
LARGE = {"public": {"epsilon": 6}, "internal": {"epsilon": 12}}
REMEDY = re.compile(
    r"(?:max_levels of (?P<levels>\d+) together with )?(?:max_levels of at most (?P<most>\d+))?"
    r"(?:false_keys of at most (?P<keys>[\d.e-]+))?(?: and )?(?:a share of (?P<share>[\d.e-]+))?"
)


def lend(world: World, folder: Path, budgets: dict[str, Any], **changes: Any) -> None:
    (folder / "loans.csv").write_text("person,book\nann,7\nbob,7\n")
    source = {"engine": "duckdb", "uri": str(folder / "loans.csv")}
    spec = {**LOANS, "budgets": budgets, "source": source, **changes}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


def declare(world: World, **changes: Any) -> None:
    correction = CorrectionRequest.model_validate(changes)
    corrections.correct(world.server, OPERATOR, "loans", correction)


def asked(**changes: Any) -> HistogramRequest:
    return HistogramRequest.model_validate({**BOOKS, **changes})


def refusal(world: World, wish: dict[str, Any]) -> str:
    """Return the refusal of the spec ``wish``, which registering and previewing tell alike."""
    with pytest.raises((BudgetExhausted, InvalidInput)) as caught:
        registration.register(world.server, OPERATOR, asked(**wish))
    told = caught.value.detail
    assert previewed(world, wish) == told
    return told


def previewed(world: World, wish: dict[str, Any]) -> str | None:
    """Return the refusal that a preview tells, or that it is refused with."""
    try:
        return query_preview.preview(world.server, OPERATOR, asked(**wish)).refusal
    except InvalidInput as problem:
        return problem.detail


def remedies(told: str) -> list[dict[str, Any]]:
    """Return what each remedy of a refusal changes."""
    found = re.search(r"What would fit: (.*?)\.(?: Spent by|$)", told)
    assert found, told
    changes = []
    for words in found[1].split("; or "):
        parts = REMEDY.match(words)
        if "max_units" in words:
            continue
        assert parts is not None
        assert any(parts.groups()), words
        levels = parts["levels"] or parts["most"]
        changes.append(
            {
                **({"max_levels": int(levels)} if levels else {}),
                **({"false_keys": float(parts["keys"])} if parts["keys"] else {}),
                **({"levels": None, "share": float(parts["share"])} if parts["share"] else {}),
            }
        )
    return changes


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "a share of the demonstration's budgets": (DEMO, {"share": 0.1}, 1),
    "levels, of which fewer help": (LARGE, {"levels": LEVELS, "max_levels": 12}, 1),
    "many false keys": (DEMO, {"levels": LEVELS, "false_keys": 1000}, 1),
    "levels that cost too much": (
        {"public": {"epsilon": 1}, "internal": {"epsilon": 2}},
        {"levels": {"internal": {"epsilon": 6}}},
        1,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_each_remedy_that_a_refusal_states_is_accepted(
    world: World, tmp_path: Path, case: str
) -> None:
    budgets, wish, fewest = REFUSED[case]
    lend(world, tmp_path, budgets)
    found = remedies(refusal(world, wish))
    assert len(found) >= fewest
    for change in found:
        shown = query_preview.preview(world.server, OPERATOR, asked(**{**wish, **change}))
        assert shown.refusal is None, change
    # Registered is the last: each spends what the others would.
    registration.register(world.server, OPERATOR, asked(**{**wish, **found[-1]}))


def test_the_most_false_keys_are_told_of_tiers_apart(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, DEMO)

    def wish(number: float) -> dict[str, Any]:
        return {"levels": LEVELS, "false_keys": {"public": number, "internal": number / 2}}

    number = remedies(refusal(world, wish(1000)))[0]["false_keys"]
    more = query_preview.preview(world.server, OPERATOR, asked(**wish(number * 1.12)))
    assert more.refusal is not None, "it is the largest, to two digits"
    registration.register(world.server, OPERATOR, asked(**wish(number)))


OPEN = {"levels": LEVELS, "false_keys": "fit"}


def solved_for(world: World, wish: dict[str, Any]) -> float:
    """Return the number of false keys that a preview solves for, which fits."""
    shown = query_preview.preview(world.server, OPERATOR, asked(**wish))
    assert shown.refusal is None
    numbers = {each.histogram.false_keys for each in shown.tiers if each.histogram is not None}
    assert len(numbers) == 1
    return numbers.pop()


def test_the_largest_number_that_fits_is_solved_for(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, DEMO)
    shared: dict[str, Any] = {"share": 0.5, "levels": None}
    number = solved_for(world, {**shared, "false_keys": "fit"})
    assert 0 < number < 1, "the budgets limit it"
    assert number == float(f"{number:.1e}"), "two digits"
    assert previewed(world, {**shared, "false_keys": number * 1.12}) is not None
    assert previewed(world, {**shared, "false_keys": number}) is None


def test_what_is_solved_for_leaves_room_for_others(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, DEMO)
    number = solved_for(world, OPEN)
    assert previewed(world, {**OPEN, "false_keys": 5 * number}) is None
    assert solved_for(world, {**OPEN, "max_levels": 2}) > number, "fewer levels leave more"
    view = registration.register(world.server, OPERATOR, asked(**OPEN))
    assert view.spec["false_keys"] == number
    # Another has the same, as long as there is room for it.
    other = {**OPEN, "name": "others", "aggregate": {"type": "count"}}
    other["contribution"] = {"max_groups": 1, "max_rows_per_group": 1}
    assert solved_for(world, other) == number


def test_no_more_than_one_false_key_is_solved_for(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, {"public": {"epsilon": 1}}, delta=1e-3)
    small = {"domain": {"type": "uint64", "size": 3 * 10**5}}
    wish = {"levels": {"public": {"epsilon": 0.1}}, "false_keys": "fit", "max_levels": 1}
    assert solved_for(world, {**wish, **small}) == histograms.MOST_FITTED
    assert solved_for(world, {**wish, "domain": {"type": "uint64", "size": 4}}) <= 1


def test_where_no_number_fits_the_refusal_says_what_else_would(
    world: World, tmp_path: Path
) -> None:
    lend(world, tmp_path, DEMO)
    costly = {**OPEN, "levels": {"public": {"epsilon": 3}}}
    shares = [change["share"] for change in remedies(refusal(world, costly))]
    for share in shares:
        assert solved_for(world, {"share": share, "levels": None, "false_keys": "fit"}) > 0


def test_where_nothing_would_fit_that_is_told(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, {"public": {"epsilon": 30}})
    told = refusal(world, {"levels": {"public": {"epsilon": 0.1}}})
    assert "the largest is 30: count it in a dataset with smaller budgets" in told


def test_an_accurate_level_takes_a_coarser_lattice(world: World, tmp_path: Path) -> None:
    """Without a ``max_units``, which before left no level of an epsilon above 3."""
    lend(world, tmp_path, DEMO)
    found = registration.register(
        world.server, OPERATOR, asked(levels={"internal": {"epsilon": 5}}, false_keys=0.01)
    )
    assert found.tiers[-1].error.standard_deviation < 1


def test_a_max_units_and_the_noise_that_are_told_are_accepted(world: World, tmp_path: Path) -> None:
    budgets = {"public": {"epsilon": 8}}
    lend(world, tmp_path, budgets, max_units=2**40)
    wish: dict[str, Any] = {
        "levels": {"public": {"standard_deviation": 40}},
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": 1, "max_rows_per_group": 2},
        "max_levels": 2,
        "false_keys": 0.001,
    }
    told = refusal(world, wish)
    noise = re.search(r"noise of a standard deviation from (\d+) on", told)
    assert noise, told
    louder = {**wish, "levels": {"public": {"standard_deviation": int(noise[1])}}}
    assert previewed(world, louder) is None
    found = re.search(r'max_units of at most (\d+): declare it .* "max_units": (\d+)', told)
    assert found, told
    for units in (int(found[1]), int(found[2])):
        declare(world, max_units=units)
        assert previewed(world, wish) is None


def test_a_smaller_max_units_is_told_where_its_finer_lattice_is_enough(
    world: World, tmp_path: Path
) -> None:
    lend(world, tmp_path, DEMO)
    wish = {"levels": {"internal": {"epsilon": 5}}}
    assert "a max_units of at most 1000000 of its dataset" in refusal(world, wish)
    declare(world, max_units=1_000_000)
    assert previewed(world, wish) is None


class Crossing(Here):
    """Work everything out as another process would: from what is written down of it."""

    def run(self, person: str, patience: float, function: Any, *asked: Any, **named: Any) -> Any:
        given, by_name = wire.read(wire.written((asked, named)))
        found = super().run(person, patience, function, *given, **by_name)
        return wire.read(wire.written(found))


def test_remedies_are_found_in_another_process_as_well(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, LARGE)
    wish = {"levels": LEVELS, "max_levels": 12}
    here = refusal(world, wish)
    apart = World(replace(world.server, computing=Crossing()), world.clock, world.streams)
    assert refusal(apart, wish) == here
    assert histogram_remedies.remedies in computations.FUNCTIONS


def test_numbers_are_solved_for_in_another_process_as_well(world: World, tmp_path: Path) -> None:
    lend(world, tmp_path, DEMO)
    here = solved_for(world, OPEN)
    apart = World(replace(world.server, computing=Crossing()), world.clock, world.streams)
    assert solved_for(apart, OPEN) == here
    assert histogram_remedies.fitted in computations.FUNCTIONS
