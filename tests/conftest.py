"""Provide the databases that tests run on; see databases/README.md."""

import gc
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.databases.homes import BACKENDS, POSTGRESQL, SQLITE, Home, Homes
from tests.softhsm import token
from tests.support.assembly import statements_kept
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster
    from tests.databases.object_store import ObjectStore

# Here alone: a fixture that two modules import is made twice, and a forked child then reads of
# the second token while its parent goes on with the first.
__all__ = ["token"]

SHARING_ONE_PROCESS = ("tests/unit/connectors/spark",)
"""Folders whose fixtures take longer than their tests: a Spark in each process is one too many."""

VERY_MANY = 500
"""Tests of one file that take about a minute together, however short each is."""

# No clock decides: a busy machine takes longer for an example.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let ``--databases=sqlite`` leave PostgreSQL out."""
    parser.addoption(
        "--databases",
        choices=("each", SQLITE),
        default="each",
        help="the databases that tests may ask for: each that they are for, or SQLite alone",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector pass over modules and tests, which all stay to the end.

    It would go through millions of objects again and again: half of the time that collecting
    tests takes, and a twelfth of what running them does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what runs on PostgreSQL where SQLite alone was asked for, and sort for workers.

    A worker takes a file at a time.  Files of few tests have the longest ones, and come first,
    as do files of very many: otherwise one worker would run such a file at the end while the
    others have nothing to do.
    """
    if config.getoption("databases") == SQLITE:
        others = [item for item in items if _backend(item) == POSTGRESQL]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _backend(item) != POSTGRESQL]
    if hasattr(config, "workerinput"):
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: tests[item.path] if tests[item.path] < VERY_MANY else 0)


class _Rooms(LoadFileScheduling):  # type: ignore[misc]  # xdist publishes no types
    """Give a worker a file at a time, and all that share one Spark at once."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        folder = file.rpartition("/")[0]
        return folder if folder in SHARING_ONE_PROCESS else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Schedule tests file by file, but for folders whose files share what is slow to start."""
    return _Rooms(config, log)


def _backend(item: pytest.Item) -> object:
    """Return the database that a test runs on, None for a test without one."""
    # Some ask for PostgreSQL's server itself, and for no home on it.
    if "cluster" in getattr(item, "fixturenames", ()):
        return POSTGRESQL
    called = getattr(item, "callspec", None)
    return called.params.get("backend") if called else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that need a database on SQLite, and every night on PostgreSQL too.

    ``only`` names the databases that a test is about; ``each_database`` is for what touches
    them itself, and has to be tried on both at every change.  ``mainly_postgresql`` is for what
    takes long and may go wrong on both, but for more reasons on PostgreSQL: there at every
    change, and every night on SQLite too.
    """
    if "backend" not in metafunc.fixturenames:
        return
    only = metafunc.definition.get_closest_marker("only")
    if only is not None:
        backends: Sequence[object] = only.args
    elif metafunc.definition.get_closest_marker("each_database") is not None:
        backends = BACKENDS
    elif metafunc.definition.get_closest_marker("mainly_postgresql") is not None:
        backends = [POSTGRESQL, pytest.param(SQLITE, marks=pytest.mark.nightly)]
    else:
        backends = [SQLITE, pytest.param(POSTGRESQL, marks=pytest.mark.nightly)]
    metafunc.parametrize("backend", backends)


@pytest.fixture(scope="session", autouse=True)
def _statements_kept() -> Iterator[None]:
    with statements_kept():
        yield


@pytest.fixture(scope="session")
def postgresql_programs() -> Path:
    """Return the folder of PostgreSQL's programs; without it the test is skipped."""
    from tests.databases import cluster as postgresql

    programs = postgresql.programs()
    if programs is None:
        reason = "PostgreSQL is not installed (apt-get install postgresql)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return programs


@pytest.fixture(scope="session")
def cluster(postgresql_programs: Path) -> "Iterator[Cluster]":
    """Yield a PostgreSQL server of this process's own."""
    from tests.databases import cluster as postgresql

    running = postgresql.launch(postgresql_programs)
    yield running
    running.remove()


@pytest.fixture(scope="session")
def object_store() -> "Iterator[ObjectStore]":
    """Yield an S3 server of this process's own."""
    from tests.databases import object_store as s3

    with s3.launched() as running:
        yield running


@pytest.fixture
def homes(backend: str, request: pytest.FixtureRequest) -> Iterator[Homes]:
    """Return what makes homes on the database that the test runs on."""
    made = Homes(request.getfixturevalue("cluster") if backend == POSTGRESQL else None)
    yield made
    made.remove()


@pytest.fixture(scope="session")
def prototype(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str, Callable[[Homes, Path], Home]], Home]:
    """Provide ``prototype(backend, name, make)``: the home that ``make`` made the first time."""
    known: dict[tuple[str, str], Home] = {}

    def find(backend: str, name: str, make: Callable[[Homes, Path], Home]) -> Home:
        if (backend, name) not in known:
            folder = tmp_path_factory.mktemp(name) / "home"
            homes = Homes(request.getfixturevalue("cluster") if backend == POSTGRESQL else None)
            known[backend, name] = make(homes, folder)
        return known[backend, name]

    return find


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return names of files for the checkpoints of one test each; most tests never write theirs."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return (folder / f"{number}.json" for number in count())


@pytest.fixture(autouse=True)
def _own_checkpoints(monkeypatch: pytest.MonkeyPatch, checkpoints: Iterator[Path]) -> None:
    """Keep clients from knowing logs of other tests, or of whoever runs the tests."""
    # Not in tmp_path: pytest looks through all folders of earlier tests to make one more.
    monkeypatch.setenv("PENSTOCK_CHECKPOINTS", str(next(checkpoints)))


@pytest.fixture(autouse=True)
def _patient_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs that a test starts wait for the log however busy the machine is."""
    monkeypatch.setenv("PENSTOCK_LOG_PATIENCE", "120")
