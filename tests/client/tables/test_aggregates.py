"""Test which statistics go into one release, and under which names they come out of it."""

import pytest

from penstock_client import (
    Aggregate,
    InvalidArgument,
    col,
    correlation,
    count,
    count_units,
    covariance,
)
from penstock_client.tables.aggregates import combined
from penstock_client.tables.names import Names

X, Y = col("x"), col("y")


def of(**aggregates: Aggregate) -> tuple[dict[str, object], dict[str, str]]:
    spec, outputs = combined(aggregates, Names("d", ["x", "y"], {}))
    return spec, {output.name: output.statistic for output in outputs}


@pytest.mark.parametrize(
    ("aggregates", "spec", "names"),
    [
        ({"n": count()}, {"type": "count"}, {"n": "n"}),
        ({"n": count(), "m": count()}, {"type": "count"}, {"n": "n", "m": "n"}),
        ({"u": count_units()}, {"type": "count_units"}, {"u": "units"}),
        ({"s": X.sum()}, {"type": "sum", "column": "x"}, {"s": "sum:x"}),
        ({"m": X.mean()}, {"type": "mean", "column": "x"}, {"m": "mean:x"}),
        (
            {"n": count(), "m": X.mean(), "s": Y.sum()},
            {"type": "moments", "columns": ["x", "y"], "order": 1},
            {"n": "n", "m": "mean:x", "s": "sum:y"},
        ),
        (
            {"n": count(), "v": X.variance(), "d": X.standard_deviation()},
            {"type": "moments", "columns": ["x"]},
            {"n": "n", "v": "variance:x", "d": "standard_deviation:x"},
        ),
        (
            {"c": covariance("x", Y), "r": correlation(Y, "x")},
            {"type": "moments", "columns": ["x", "y"]},
            {"c": "covariance:x,y", "r": "correlation:y,x"},
        ),
        (
            {"h": X.median(), "q": X.quantile(0.9), "lo": X.min(), "hi": X.max()},
            {"type": "quantiles", "column": "x", "probabilities": [0.5, 0.9]},
            {"h": "median", "q": "quantile:0.9", "lo": "minimum", "hi": "maximum"},
        ),
        (
            {"n": count(), "h": X.median()},
            {"type": "quantiles", "column": "x", "probabilities": [0.5]},
            {"n": "n", "h": "median"},
        ),
    ],
)
def test_statistics_become_one_aggregate(
    aggregates: dict[str, Aggregate], spec: object, names: object
) -> None:
    assert of(**aggregates) == (spec, names)


def test_a_computed_column_is_derived() -> None:
    spec, names = of(m=(X + Y).mean())
    assert spec == {"type": "mean", "column": "x + y"}
    assert names == {"m": "mean:x + y"}


@pytest.mark.parametrize(
    ("aggregates", "message"),
    [
        ({"a": X.median(), "b": Y.median()}, "of one column at a time, not of x, y"),
        ({"a": X.median(), "m": Y.mean()}, "median cannot be released together with mean"),
        ({"a": count_units(), "n": count()}, "count units cannot be released together with count"),
    ],
)
def test_statistics_that_do_not_go_together_are_refused(
    aggregates: dict[str, Aggregate], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        of(**aggregates)
