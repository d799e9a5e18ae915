"""Test every benchmark in a tiny setting: it runs, and it checks the values that it times.

Those that start servers or read files run at night.
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from sqlmodel import col, select
from tests.benchmarks.database import (
    crowd,
    engines,
    ledger,
    levels,
    previews,
    reach,
    registration,
    release,
    scaling,
)
from tests.benchmarks.database.world import TIERS, fresh_world
from tests.benchmarks.figures import Figure
from tests.benchmarks.noise import accountant, costs, histogram, mechanisms
from tests.benchmarks.served import dashboard, over_http
from tests.benchmarks.served.compared.populated import Tree
from tests.benchmarks.served.compared.rows import FIRST, HELLO, REPEAT, STORED

from penstock.persistence.tables import Charge, Query
from penstock.web import PAGES


def goals(figures: Sequence[Figure]) -> dict[str, str]:
    return {figure.name: str(figure.goal) for figure in figures if figure.goal}


def test_mechanisms_are_compared_with_numpy_and_with_opendp_where_it_is_installed() -> None:
    said: list[str] = []
    setting = mechanisms.Setting(values=4000, opendp_values=50, rounds=4)
    found = goals(mechanisms.measure(setting, said.append))
    with_opendp = {
        "gaussian bridge over OpenDP gaussian": ">= 100",
        "laplace bridge over OpenDP laplace": ">= 25",
    }
    assert found == {
        "gaussian bridge over numpy normal": ">= 0.25",
        **({} if said else with_opendp),
    }
    assert all("OpenDP is not installed" in line for line in said)


def test_histograms_over_huge_domains_are_compared_with_that_over_2_to_the_20() -> None:
    setting = histogram.Setting(keys=200, sizes=(10**6, 1 << 20, 1 << 64), rounds=4)
    assert goals(histogram.measure(setting)) == {
        "10^6 keys over 2^20": "<= 3",
        "2^64 keys over 2^20": "<= 3",
    }


@pytest.mark.nightly
def test_engines_are_compared_with_their_own_sql_in_processes_of_their_own() -> None:
    said: list[str] = []
    chosen = ("duckdb", "clickhouse")
    setting = engines.Setting(rows=20_000, engines=chosen, rounds=1)
    figures = engines.measure(setting, said.append)
    assert list(goals(figures).values()) == ["<= 1.5", "<= 1.5"]
    assert {figure.name.partition(":")[0] for figure in figures} == set(chosen)
    assert said[0].startswith("20,000 rows")


@pytest.mark.nightly
def test_the_longest_computations_are_timed_here_and_apart() -> None:
    setting = costs.Setting(values=500, releases=4, elements=64, rounds=4)
    names = [figure.name for figure in costs.measure(setting)]
    assert "exposure, 4 levels" in names
    assert names[-2:] == ["in new arrays over in place", "a preview over asking again"]


@pytest.mark.nightly
def test_previews_of_small_queries_are_timed_and_compared_with_their_charges() -> None:
    setting = previews.Setting(rounds=1, named="gaussian, 1 moved by 1, by epsilon")
    assert goals(previews.measure(setting)) == {
        "gaussian, 1 moved by 1, by epsilon": "<= 300",
        "gaussian, 1 moved by 1, by epsilon, normal": "<= 300",
    }


def test_the_tight_figure_is_compared_with_dp_accountings_own() -> None:
    figures = accountant.measure(accountant.Setting(queries=6, rounds=4))
    assert [figure.name for figure in figures[:2]] == [
        "report of 6 queries",
        "dp-accounting, 6 queries",
    ]
    assert goals(figures) == {}


def test_a_release_is_compared_with_its_bridge_and_encryption() -> None:
    figures = release.measure(release.Setting(values=500, rounds=4))
    assert goals(figures) == {
        "release over bridge and encryption": "<= 1.3",
        "release on one thread over 2, durations": ">= 1.7",
    }
    assert len({figure.name for figure in figures}) == 7


@pytest.mark.parametrize(
    "setting",
    [
        levels.Setting(values=2, few=2, many=3, rounds=1),
        pytest.param(levels.Setting(values=5, few=3, many=8, rounds=4), marks=pytest.mark.nightly),
    ],
    ids=["small", "larger"],
)
def test_many_stored_levels_are_compared_with_few(setting: levels.Setting) -> None:
    compared = f"{setting.many} over {setting.few}: processor time"
    assert goals(levels.measure(setting)) == {
        f"first release, {compared}": "<= 1.1",
        f"first hand-out, {compared}": "<= 1.1",
        f"repeat, {compared}": "<= 1.1",
    }


@pytest.mark.nightly
def test_every_page_is_timed_in_three_homes_and_weighed_without_data() -> None:
    setting = dashboard.Setting(rounds=1, queries=2, leaves=6, names=1)
    found = dashboard.measure(setting)
    assert {str(figure.goal) for figure in found} == {"<= 100", "<= 300"}
    assert found[0].unit == "kB"
    shown = {
        one.name.partition(" (")[0].rpartition(": ")[2]
        for one in found
        if one.name.startswith("demo, ")
    }
    assert shown == {page.name for page in PAGES if page.verb == "GET"} - dashboard.NOT_FOR_EYES


@pytest.mark.nightly
def test_two_checkouts_take_turns_with_hello_world_on_each_database() -> None:
    said: list[str] = []
    setting = over_http.Setting(
        *(5, 1, (0.01,), (2, over_http.STORED_CLIENTS)),
        queries=2,
        seconds=0.05,
        rounds=1,
        counted=3,
    )
    trees = [Tree("one"), Tree("two")]
    rows = list(over_http.measure(setting, trees, said.append))
    databases = ["SQLite", "PostgreSQL"] if not said else ["SQLite"]
    kinds = [(FIRST, 2), (REPEAT, 2), (FIRST, 8), (STORED, 8), (REPEAT, 8)]
    expected = []
    for database in databases:
        masters = [(FIRST, 8, 2)] if database == "SQLite" else []
        expected += [
            (request, clients, database, tree.name, quantum, count)
            for quantum in setting.quanta
            for request, clients, count in [*((*kind, 1) for kind in kinds), *masters]
            for tree in trees
        ]
    expected += [(HELLO, clients, "", "", 0.0, 1) for clients in setting.clients]
    assert expected == [
        (row.request, row.clients, row.database, row.tree, row.quantum, row.masters) for row in rows
    ]
    for row in rows:
        assert row.taken.answers > 0
        assert row.taken.server > 0
        assert (row.taken.database > 0) == (row.database == "PostgreSQL")
        assert row.request == HELLO or (row.statements or 0) > 3
        if row.quantum and row.request == FIRST:
            assert min(row.taken.seconds) >= row.quantum


@pytest.mark.nightly
def test_registration_over_a_file_is_compared_with_plain_sql() -> None:
    said: list[str] = []
    figures = registration.measure(registration.Setting(rows=3000, rounds=4), said.append)
    assert said[0].startswith("3,000 rows of 380 people")
    assert goals(figures) == {"registration over plain SQL": "<= 1.5"}
    peaks = [figure.value for figure in figures if figure.unit == "MB"]
    assert len(peaks) == 2
    assert all(20 < peak < 2000 for peak in peaks)


@pytest.mark.parametrize(
    "setting",
    [
        ledger.Setting(counts=(2, 3), values=1, rounds=1),
        pytest.param(ledger.Setting(counts=(2, 30), values=3, rounds=4), marks=pytest.mark.nightly),
    ],
    ids=["small", "larger"],
)
def test_registering_with_many_queries_is_compared_with_few(setting: ledger.Setting) -> None:
    few, many = setting.counts
    each = {f"registration, {count} before: processor time": "<= 5" for count in (few, many)}
    compared = f"registration, {many} before over {few}: processor time"
    assert goals(ledger.measure(setting)) == {**each, compared: "<= 1.1"}


def test_copies_of_a_query_are_charged_one_after_the_other() -> None:
    with fresh_world() as world:
        ledger.fill(world, 5, 3)
        with world.server.database.read() as session:
            charges = session.exec(select(Charge).order_by(col(Charge.seq))).all()
            assert len(session.exec(select(Query.name)).all()) == 5
        assert [charge.seq for charge in charges] == [seq for seq in range(5) for _ in TIERS]
        first = charges[0]
        assert charges[-1].loss_total == charges[-1 - len(TIERS)].loss_total + 1
        assert first.loss_total == first.loss


def test_a_level_is_measured_with_its_manifest_and_neighbors_that_repeat(tmp_path: Path) -> None:
    told = reach.values(20 * 1024 + 5, tmp_path, chunk=1024)
    assert told["chunks"] == 21 > reach.NEIGHBORS
    assert told["manifest"] * 1e3 > 21 * 64
    assert told["drawn and stored, processor"] > 0


def test_rows_are_measured_in_blocks_of_other_people(tmp_path: Path) -> None:
    one, two = (tmp_path / name for name in ("one", "two"))
    for folder in (one, two):
        folder.mkdir()
    whole, blocks = reach.rows(500, one), reach.rows(1000, two, block=500)
    assert blocks["people"] == 2 * whole["people"]
    assert blocks["by person, query, processor"] > 0
    assert blocks["by row, query, processor"] > 0


def test_blocks_that_are_repeated_bring_rows_without_people(tmp_path: Path) -> None:
    once, again = (tmp_path / name for name in ("once", "again"))
    people = crowd.write_crowds(once, 1000, 500)
    assert crowd.write_crowds(again, 1700, 500, repeats=2) == people
    with duckdb.connect() as engine:
        rows, names = "SELECT count(*), count(DISTINCT person) FROM read_parquet(?)", [str(again)]
        assert engine.execute(rows, names).fetchall() == [(1700, people)]


@pytest.mark.nightly
def test_releases_are_measured_by_hosts_and_registrations_by_rows(cluster: object) -> None:
    setting = scaling.Setting(hosts=(2,), queries=1, rows=(1000,))
    figures = {figure.name: figure.value for figure in scaling.measure(setting)}
    assert cluster is not None
    assert figures["2 hosts: a first release, of a host's processors"] > 0
    assert figures["2 hosts: leaves in a batch of the log"] >= 1
    assert figures["1,000 rows: a registration, processor"] > 0
