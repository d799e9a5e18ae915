"""Measure the processor time of every kind of preview of a small query, with nothing cached.

Each row is one preview through the services, in this process: what is read from the database, what
is computed, and the answer.  Before each of them everything remembered is dropped.  Checked:
registering then charges to the last digit what a preview showed.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from pydantic import TypeAdapter
from tests.benchmarks.database.world import DATASET, TIERS, World, fresh_world
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import median

from penstock.services.access.principals import OPERATOR
from penstock.services.computations.job_kinds import forget
from penstock.services.datasets import datasets
from penstock.services.previews import level_preview, query_preview, stream_preview
from penstock.services.queries import registration
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.queries import DatasetRequest, PreviewRequest, QueryRequest
from penstock.services.schemas.streams import StreamRequest

GOAL = Goal(300, at_most=True)
"""Milliseconds of processor time."""

VALUES = 24
SENSITIVITIES: dict[str, dict[str, float]] = {
    "1 moved by 1": {"l1": 1, "l2": 1, "linf": 1},
    "24 moved by 1": {"l1": VALUES, "l2": 4.9, "linf": 1},
    "3 moved by 5": {"l1": 15, "l2": 8.67, "linf": 5},
}


def _levels(kind: str, *values: float) -> dict[str, Any]:
    """Return the terms that give each tier its level."""
    return {"levels": {name: {kind: at} for name, at in zip(TIERS, values, strict=True)}}


TERMS: dict[str, dict[str, Any]] = {
    "epsilon": _levels("epsilon", 0.1, 0.5, 1.0),
    "standard_deviation": _levels("standard_deviation", 200.0, 50.0, 20.0),
    "half_width": _levels("half_width", 200.0, 50.0, 20.0),
    "level": _levels("level", 5000.0, 500.0, 100.0),
    "share": {"share": 0.05},
}
NOISES: dict[str, dict[str, Any]] = {
    "gaussian": {"mechanism": "gaussian"},
    "laplace": {"mechanism": "laplace"},
    "laplace in steps of 1": {"mechanism": "laplace", "granularity": 1},
    "poisson": {"mechanism": "poisson"},
    "skellam": {"mechanism": "skellam"},
    **{
        f"p = {power:g}": {"mechanism": "generalized_gaussian", "p": power}
        for power in (1.5, 3, 4, 5.25)
    },
}
BUDGETS: dict[str, Any] = {name: {"epsilon": 4.0} for name in TIERS}
DATASETS: Sequence[dict[str, Any]] = (
    {"name": "pure", "source": {"engine": "vector"}, "delta": 0.0},
    {"name": "normal", "source": {"engine": "vector"}, "delta": 1e-6, "accountant": "gaussian"},
    {
        "name": "people",
        "source": {"engine": "duckdb"},
        "privacy_unit": {"column": "person"},
        "delta": 1e-6,
        "max_units": 100_000,
        "columns": {
            "person": {"type": "string"},
            "town": {"type": "string", "categories": ["north", "south", "west"]},
            "ward": {"type": "string", "categories": ["east", "west"]},
            "age": {"type": "integer", "lower": 0, "upper": 100},
            "cost": {"type": "integer", "lower": 0, "upper": 1000},
        },
    },
)
BY_TOWN: dict[str, Any] = {
    "dataset": "people",
    "group_by": [{"column": "town"}],
    "contribution": {"max_groups": 2, "max_rows_per_group": 2},
}
ONE_ROW: dict[str, Any] = {
    "dataset": "people",
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
}
ANY_NOISE = ("mean", "quantiles", "histogram")
"""The kinds that take other noise than Gaussian."""

KINDS: dict[str, dict[str, Any]] = {
    "moments": {
        **ONE_ROW,
        "aggregate": {"type": "moments", "columns": ["age", "cost"], "grid": 32},
    },
    "regression": {
        **ONE_ROW,
        "aggregate": {"type": "regression", "outcome": "cost", "predictors": ["age"]},
    },
    "quantiles": {**ONE_ROW, "aggregate": {"type": "quantiles", "column": "age"}},
    "histogram": {
        **ONE_ROW,
        "aggregate": {"type": "histogram", "column": "age", "bins": [0, 10, 50, 100]},
    },
    "marginals": {**ONE_ROW, "aggregate": {"type": "marginals", "columns": ["town", "ward"]}},
    "mean": {**BY_TOWN, "aggregate": {"type": "mean", "column": "age"}},
    "correlated counts": {
        **BY_TOWN,
        "structure": "correlated",
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": 3, "max_rows_per_group": 1},
    },
    "sparse histogram": {
        **BY_TOWN,
        "structure": "sparse_histogram",
        "domain": {"type": "string", "alphabet": "honrstuw", "length": 5},
        "aggregate": {"type": "count_units"},
        "contribution": {"max_groups": 1},
        "false_keys": 0.1,
    },
}
STREAMS: dict[str, dict[str, Any]] = {
    "auto": {"structure": "auto", "length": 1000},
    "binary": {"structure": "binary", "length": 1000},
    "sqrt": {"structure": "sqrt", "length": 1000},
    "endless": {"length": None},
}

Act = Callable[[], Any]


@dataclass(frozen=True)
class Setting:
    """Hold how often each preview is run, and which rows: those with ``named`` in their name."""

    rounds: int = 1
    named: str = ""


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return milliseconds of processor time of each preview."""
    with fresh_world() as world:
        _register_datasets(world)
        acts = {
            name: act
            for name, act in {
                **_vectors(world),
                **_computed(world),
                **_streams(world),
                **_moved(world),
            }.items()
            if setting.named in name
        }
        times: dict[str, list[float]] = {name: [] for name in acts}
        for _ in range(setting.rounds):
            for name, act in acts.items():
                times[name].append(_seconds(act))
        _check(world)
    return [median(name, taken, "ms", 1e3, GOAL) for name, taken in times.items()]


def _seconds(act: Act) -> float:
    forget()
    before = time.process_time()
    act()
    return time.process_time() - before


def _register_datasets(world: World) -> None:
    file = world.home / "data" / "people.csv"
    file.parent.mkdir(exist_ok=True)
    rows = (f"p{n},north,east,{n},{n}\n" for n in range(100))
    file.write_text("person,town,ward,age,cost\n" + "".join(rows))
    for spec in DATASETS:
        source = {**spec["source"], **({"uri": str(file)} if spec["name"] == "people" else {})}
        request = {**spec, "source": source, "neighboring": "add_remove", "budgets": BUDGETS}
        datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(request))


def vector(dataset: str, moved: str, noise: str, terms: str) -> dict[str, Any]:
    """Return the spec of a vector of ``VALUES`` values."""
    return {
        "name": "planned",
        "dataset": dataset,
        "keys": [str(number) for number in range(VALUES)],
        "bound": 1000,
        "sensitivity": SENSITIVITIES[moved],
        "max_levels": 8,
        **NOISES[noise],
        **TERMS[terms],
    }


def _preview(world: World, spec: dict[str, Any]) -> Act:
    request = TypeAdapter[Any](PreviewRequest).validate_python(spec)
    return partial(query_preview.preview, world.server, OPERATOR, request)


def _vectors(world: World) -> dict[str, Act]:
    """Return every mechanism by every target; laplace at delta 0, and gaussian by squares too."""
    rows = [*product([DATASET], SENSITIVITIES, NOISES, TERMS)]
    rows += product(["pure"], SENSITIVITIES, ["laplace", "laplace in steps of 1"], TERMS)
    rows += product(["normal"], SENSITIVITIES, ["gaussian"], TERMS)
    return {
        f"{noise}, {moved}, by {terms}{'' if of == DATASET else f', {of}'}": _preview(
            world, vector(of, moved, noise, terms)
        )
        for of, moved, noise, terms in rows
    }


def _computed(world: World) -> dict[str, Act]:
    acts = {}
    for (kind, spec), noise, terms in product(
        KINDS.items(), ["gaussian", "laplace", "poisson", "skellam", "p = 4"], ["epsilon", "share"]
    ):
        if noise == "gaussian" or kind in ANY_NOISE:
            request = {"name": "planned", **spec, **NOISES[noise], **TERMS[terms]}
            if kind == "sparse histogram":
                request["max_levels"] = 4
            acts[f"{kind}, {noise}, by {terms}"] = _preview(world, request)
    return acts


def _streams(world: World) -> dict[str, Act]:
    acts: dict[str, Act] = {}
    for (structure, spec), noise, terms in product(
        STREAMS.items(), ["gaussian", "laplace"], ["epsilon", "share"]
    ):
        if (structure, noise) != ("sqrt", "laplace"):
            request = StreamRequest.model_validate(
                {
                    "name": "planned",
                    "dataset": DATASET,
                    "max_steps_per_unit": 2,
                    **spec,
                    **NOISES[noise],
                    **TERMS[terms],
                }
            )
            acts[f"stream, {structure}, {noise}, by {terms}"] = partial(
                stream_preview.preview_stream, world.server, OPERATOR, request
            )
    return acts


def _moved(world: World) -> dict[str, Act]:
    """Return previews of raising the level of a registered query, and of what it was charged."""
    acts: dict[str, Act] = {}
    for noise in NOISES:
        name = f"registered-{len(acts)}"
        spec = vector(DATASET, "24 moved by 1", noise, "epsilon")
        del spec["keys"]
        request = {**spec, "name": name, "values": [0] * VALUES}
        registration.register(
            world.server, OPERATOR, TypeAdapter[Any](QueryRequest).validate_python(request)
        )
        levels = {"public": LevelSpec(epsilon=0.2), "internal": LevelSpec(epsilon=1.25)}
        acts[f"{noise}, levels moved"] = partial(
            level_preview.preview, world.server, OPERATOR, name, levels
        )
        acts[f"{noise}, registered"] = _preview(world, {"query": name})
    return acts


def _check(world: World) -> None:
    """Raise ``AssertionError`` if a charge differs from what the preview of it showed."""
    for noise in NOISES:
        spec = vector(DATASET, "24 moved by 1", noise, "share")
        request = {name: part for name, part in spec.items() if name != "keys"}
        _compare(world, noise, spec, {**request, "values": [0] * VALUES})
    for kind, part in KINDS.items():
        if kind != "sparse histogram":  # it takes no share of these budgets
            spec = {**part, **NOISES["gaussian"], "share": 0.01}
            _compare(world, kind, {**spec, "name": "planned"}, spec)


def _compare(world: World, name: str, spec: dict[str, Any], request: dict[str, Any]) -> None:
    """Preview ``spec`` and register ``request``, which is the same with its values."""
    shown = _preview(world, spec)()
    sent = {**request, "name": re.sub("[^a-z0-9]", "-", f"charged {name}")}
    charged = registration.register(
        world.server, OPERATOR, TypeAdapter[Any](QueryRequest).validate_python(sent)
    )
    stored = _preview(world, {"query": charged.name})()
    for before, after in zip(shown.tiers, stored.tiers, strict=True):
        assert before.charge == after.charge, f"{name}: {before.charge} and {after.charge}"
        assert before.level == after.level, f"{name}: {before.level} and {after.level}"
