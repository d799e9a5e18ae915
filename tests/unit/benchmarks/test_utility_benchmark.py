"""Test the benchmark of errors on real data: what all sides get, and how errors are counted."""

import math
from hashlib import sha256

import numpy as np
import pytest
from tests.benchmarks.utility import compared, flat, peers, penstock_side, speed
from tests.benchmarks.utility.studies import Study

from penstock.mechanisms.gaussian.curve import delta_at
from penstock.randomness import Stream

ROWS = 3000


@pytest.fixture(scope="module")
def study() -> Study:
    stream = Stream.from_key(sha256(b"a study").digest()).generator
    price = stream.uniform(0, 100, ROWS)
    return Study(
        name="made up",
        columns={"price": price, "carat": price / 50 + stream.normal(0, 0.1, ROWS)},
        bounds={"price": (0.0, 100.0), "carat": (-1.0, 3.0)},
        median_of="price",
        predictor="carat",
        outcome="price",
        fractions=(0.1, 0.4),
        codes={"cut": (price // 40).astype(np.int64), "odd": (price % 2 >= 1).astype(np.int64)},
    )


def test_errors_are_those_of_the_exact_answers(study: Study) -> None:
    price = study.columns["price"]
    assert study.rank_error(float(np.median(price))) == 0
    assert study.rank_error(float(np.quantile(price, 0.6))) == pytest.approx(10, abs=0.1)
    assert study.slope_error(study.slope() * 0.9) == pytest.approx(10)
    assert study.tables_error(study.tables()) == 0
    assert study.tables_error([table + 2 for table in study.tables()]) == pytest.approx(2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_flat_split_has_the_epsilon_that_all_have(epsilon: float) -> None:
    """Four releases compose to the loss of one, by the squares of mu."""
    mu = flat.mu_for(epsilon, penstock_side.DELTA)
    assert delta_at(epsilon, mu) == pytest.approx(penstock_side.DELTA, rel=1e-3)
    parts = flat.parts(epsilon, compared.RATIOS)
    assert math.hypot(*parts) == pytest.approx(mu)
    assert parts == sorted(parts, reverse=True)


def test_what_little_noise_releases_is_near(study: Study) -> None:
    stream = Stream.from_key(sha256(b"noise").digest())
    mu = 1e4
    assert study.rank_error(flat.median(study, mu, stream)) < 0.2
    assert study.slope_error(flat.slope(study, mu, stream)) < 0.1
    assert study.tables_error(flat.tables(study, mu, stream)) < 0.01
    with penstock_side.fresh_server() as server:
        views = penstock_side.released(
            server, study, "tables", penstock_side.marginals(study), [4.0, 2.0]
        )
    errors = [study.tables_error(penstock_side.tables(view)) for view in views]
    assert 0 < errors[0] < errors[1] < 10


def test_without_peers_the_run_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def missing() -> list[Study]:
        raise ModuleNotFoundError("plotnine is not installed")

    monkeypatch.setattr(peers, "studies", missing)
    compared.report(say=said.append)
    assert said == ["No errors on real data: plotnine is not installed"]


def test_of_four_tiers_slow_peers_release_the_best_and_the_last_alone(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int, tuple[int, ...]]] = []

    def answers(
        kind: str, _: Study, __: float, ratios: list[float], *___: float, only: tuple[int, ...] = ()
    ) -> list[list[object]] | None:
        calls.append((kind, len(ratios), only))
        off = 1000 + sum(only)
        return None if (kind, only) == ("aim", (3,)) else [[[t + off for t in study.tables()]]]

    monkeypatch.setattr(peers, "studies", lambda: [study])
    monkeypatch.setattr(peers, "require_opendp", lambda: None)
    monkeypatch.setattr(peers, "answers", answers)
    printed: list[str] = []
    setting = compared.Setting(runs=1, epsilons=(1.0,), without=("median", "slope", "sums"))
    compared.report(setting, printed.append)
    assert calls == [
        (kind, tiers, only)
        for tiers, parts in ((1, [()]), (4, [(0,), (3,)]))
        for kind in ("mst", "aim")
        for only in parts
    ]
    rows = [line.split(" | ") for line in "\n".join(printed).split("\n") if "made up" in line]
    assert [row[-2:] for row in rows[-3:]] == [
        ["1e+03", "1e+03 |"],
        ["1e+03", "1e+03 |"],
        ["1e+03", "not in time |"],
    ]


def test_a_run_of_speed_compares_everything() -> None:
    found = speed.measure(speed.Setting(rows=2000, rounds=1), lambda _: None)
    assert [figure.goal is not None for figure in found] == [False, False, True, True, True]
