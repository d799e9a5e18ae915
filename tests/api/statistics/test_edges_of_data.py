"""Test statistics that are computed from a release on data that have next to nothing in them.

No rows, one privacy unit, more groups than rows, constant columns, and cells that are no values:
each is registered and released, and no answer has a number that is none.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World

HEADER = "person,ward,age,cost,urgent"
HOSTILE = (
    *("", "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "0x1f", "=1+1", "1;2", "' or 1=1 --"),
    *("<script>", "\u202e12", "\u0661\u0662", "9" * 400, "\x00", "-0", "1_000"),
)
LINES: dict[str, tuple[str, ...]] = {
    "no rows": (),
    "one unit": ("ann,a,40,12.5,true",),
    "one unit in many rows": tuple(f"ann,a,{age},12.5,true" for age in range(50)),
    "constant": tuple(f"p{number},b,7,7,false" for number in range(400)),
    "hostile": (
        *(f'h{number},a,"{cell}","{cell}","{cell}"' for number, cell in enumerate(HOSTILE)),
        *(f'g{number},"{cell}",1,1,true' for number, cell in enumerate(HOSTILE)),
        *(f"p{number},a,40,12.5,true" for number in range(300)),
    ),
}
DATASET: dict[str, Any] = {
    "name": "patients",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b", *(f"w{n}" for n in range(12))]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "cost": {"type": "number", "lower": 0, "upper": 60},
        "urgent": {"type": "boolean"},
    },
    "budgets": {"public": {"epsilon": 20}, "internal": {"epsilon": 400}},
}
AGE = {"column": "age", "bins": [0, 18, 65, 100]}
AGGREGATES: dict[str, dict[str, Any]] = {
    "quantiles": {"type": "quantiles", "column": "age", "probabilities": [0.001, 0.5, 0.999]},
    "costs": {"type": "quantiles", "column": "cost", "bins": 7},
    "bounds": {"type": "quantiles", "column": "cost", "scale": "log"},
    "moments": {"type": "moments", "columns": ["age", "cost"]},
    "regression": {"type": "regression", "outcome": "cost", "predictors": ["age"], "grid": 64},
    "marginals": {"type": "marginals", "columns": ["ward", AGE, "urgent"]},
}
GROUPED = ("costs", "moments", "regression")
MORE = ("", "?interval=population")


@pytest.fixture
def filled(grow: Callable[..., World]) -> Callable[[str], World]:
    """Open a world whose dataset has the named rows."""

    def opened(name: str) -> World:
        def fill(world: World, folder: Path) -> None:
            path = folder / "patients.csv"
            path.write_text("\n".join((HEADER, *LINES[name])) + "\n", encoding="utf-8")
            body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
            world.answer("POST", "/api/v1/datasets", body, by="root")

        return grow(f"edges of data, {name}", fill)

    return opened


def requests() -> Iterator[dict[str, Any]]:
    """Yield every statistic over all rows, and by ward: of 14 wards most have no row."""
    for name, aggregate in AGGREGATES.items():
        whole = {"max_groups": 1} if name == "marginals" else {}
        base = {
            "dataset": "patients",
            "aggregate": aggregate,
            "mechanism": "gaussian",
            "levels": {"public": {"rho": 0.01}, "internal": {"rho": 2}},
        }
        yield {**base, "name": name, "contribution": {**whole, "max_rows_per_group": 1}}
        if name in GROUPED:
            own = {"max_groups": 1, "max_rows_per_group": 1}
            yield {**base, "name": f"{name}-by", "group_by": ["ward"], "contribution": own}


def numbers(answer: object) -> Iterator[float]:
    """Yield every number of an answer, however deep."""
    if isinstance(answer, dict):
        for part in answer.values():
            yield from numbers(part)
    elif isinstance(answer, list):
        for part in answer:
            yield from numbers(part)
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        yield float(answer)


def ordered(estimate: dict[str, Any]) -> bool:
    """Return whether an estimate is in its interval, or has no number at all."""
    shown = [estimate[name] for name in ("lower", "value", "upper")]
    if None in shown:
        return shown == [None] * 3 and estimate["standard_deviation"] is None
    return sorted(shown) == shown


@pytest.mark.parametrize("name", sorted(LINES))
def test_every_statistic_is_released_and_has_numbers_in_their_intervals_or_none(
    filled: Callable[[str], World], name: str
) -> None:
    world = filled(name)
    for request in requests():
        world.answer("POST", "/api/v1/queries/preview", request, by="root")
        world.answer("POST", "/api/v1/queries", request, by="root")
        path = f"/api/v1/queries/{request['name']}/releases"
        for body in ({}, {"tier": "public"}):
            release = world.answer("POST", path, body, by="ann")
            for more in MORE if release["estimates"] else MORE[:1]:
                values = f"/api/v1/releases/{release['id']}/values{more}"
                read = world.answer("GET", values, by="ann")
                assert all(map(math.isfinite, numbers(read))), (request["name"], more)
                for each in read["estimates"] or ():
                    assert ordered(each), (request["name"], *each.values(), body, more)


def estimates(world: World, name: str, key: str | None = None) -> dict[str, Any]:
    """Register and release one of the statistics, and return a group's estimates by name."""
    (request,) = (each for each in requests() if each["name"] == name)
    request["levels"]["public"] = {"rho": 2}
    world.answer("POST", "/api/v1/queries", request, by="root")
    release = world.answer("POST", f"/api/v1/queries/{name}/releases", {}, by="ann")
    return {each["name"]: each for each in release["estimates"] if each["key"] == key}


def test_without_rows_there_is_a_count_near_zero_and_mostly_nothing_else(
    filled: Callable[[str], World],
) -> None:
    found = estimates(filled("no rows"), "quantiles")
    count = found.pop("n")
    assert abs(count["value"]) < 7 * count["standard_deviation"]
    # Noise alone is taken for rows as often as the interval of their number says.
    assert {each["value"] is None for each in found.values()} == {count["lower"] <= 0}


def test_one_unit_with_many_rows_counts_as_its_middle_one(filled: Callable[[str], World]) -> None:
    count = estimates(filled("one unit in many rows"), "quantiles")["n"]
    assert abs(count["value"] - 1) < 7 * count["standard_deviation"]


def test_a_constant_column_has_one_value_for_all_quantiles_and_no_spread(
    filled: Callable[[str], World],
) -> None:
    found = estimates(filled("constant"), "quantiles")
    assert {found[name]["value"] for name in ("median", "quantile:0.5")} == {7}
    assert found["interquartile_range"]["value"] == 0
    assert (found["minimum"]["lower"], found["minimum"]["upper"]) == (0, 7)
    assert (found["maximum"]["lower"], found["maximum"]["upper"]) == (7, 100)


def test_hostile_cells_leave_their_rows_out(filled: Callable[[str], World]) -> None:
    count = estimates(filled("hostile"), "quantiles")["n"]
    known = 300 + len(HOSTILE)
    # "-0" is a number, and of other cells at most a few are numbers to an engine.
    assert known - 1 <= count["value"] + 7 * count["standard_deviation"]
    assert count["value"] - 7 * count["standard_deviation"] <= known + 4
