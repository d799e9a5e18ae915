"""Test forking a server that is open already: each process serves, and draws its own noise."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.faults import processes, reports
from tests.faults.findings import NOTHING, examine, stored_releases
from tests.faults.forks.prefork import as_opened, keyed_once, serve
from tests.faults.reports import Reported
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.stage import MECHANISMS, REACH, Ask, asks, opened, shuffled, some_rungs

from penstock.services.context import Server

WORKERS = 4


def _served(
    folder: Path,
    warm: Ask,
    plans: list[list[Ask]],
    opening: Callable[[Server], Server],
    *,
    is_traced: bool,
) -> list[list[Reported]]:
    """Return what each process of a forking server was answered."""
    paths = [folder / f"told-{number}" for number in range(len(plans))]
    barrier = processes.barrier(len(plans))
    worker = processes.start(
        folder / "errors", serve, folder / "home", warm, plans, opening, is_traced, barrier, paths
    )
    processes.finish([worker])
    return [reports.read(path) for path in paths]


@pytest.mark.parametrize(
    "levels",
    [pytest.param(6, id="few"), pytest.param(24, id="many", marks=pytest.mark.nightly)],
)
def test_the_parent_and_its_children_serve_one_vector_a_level(
    tmp_path: Path, furnish: Callable[..., Path], levels: int
) -> None:
    names = ["query-0", "query-1", "query-2"]
    furnish(tmp_path / "home", analysts=1 + WORKERS, names=names)
    with opened(tmp_path / "home") as server:
        rungs = some_rungs(levels, "prefork")
        wanted = [ask for name in names for ask in asks(server, name, rungs)]
        (warm,) = asks(server, "query-0", [REACH + 1])
    plans = [shuffled(wanted, "prefork", number) for number in range(1 + WORKERS)]
    told = _served(tmp_path, warm, plans, as_opened, is_traced=True)
    answers = [answer for one in told for answer in one]
    assert len(answers) == 1 + len(plans) * len(wanted)
    with opened(tmp_path / "home") as server:
        assert examine(server, answers, is_traced=True) == NOTHING
        assert broken_rules(server) == []
        assert unproven_values(server) == []


@pytest.mark.parametrize(
    ("opening", "is_repeated"), [(as_opened, False), (keyed_once, True)], ids=["product", "broken"]
)
def test_forked_workers_draw_different_noise_for_equal_queries(
    tmp_path: Path,
    furnish: Callable[..., Path],
    opening: Callable[[Server], Server],
    is_repeated: bool,
) -> None:
    """The broken variant keys its streams before the fork, and is found to repeat itself."""
    count = len(MECHANISMS)
    names = [f"query-{number}" for number in range(2 * count + 1)]
    furnish(tmp_path / "home", analysts=3, names=names)
    with opened(tmp_path / "home") as server:
        *far, warm = [asks(server, name, [REACH])[0] for name in names]
        plans: list[list[Ask]] = [[], far[:count], far[count:]]
        _, left, right = _served(tmp_path, warm, plans, opening, is_traced=False)
        anchors = {
            name: np.array(releases[0].values) for name, releases in stored_releases(server).items()
        }
    for one, other in zip(left, right, strict=True):
        noise = [np.array(told.values) - anchors[told.ask.query] for told in (one, other)]
        assert np.array_equal(*noise) == is_repeated
