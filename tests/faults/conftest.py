"""Put the repository on the path, here and in the processes that the tests start.

What a test starts from is built once a process for each database, and copied: a home finds
the URLs of its database beside it.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.databases.homes import Home, Homes
from tests.faults import processes
from tests.faults.stage import build, write_urls

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

sys.path.insert(0, str(Path(__file__).parents[2]))

Template = Callable[[Path, str, Callable[[Path], object]], Path]
Furnish = Callable[..., Path]


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    processes.end_all()


@pytest.fixture
def template(backend: str, homes: Homes, prototype: Callable[..., Home]) -> Template:
    """Return ``template(folder, name, make)``, copying the home that ``make`` made at first."""

    def copy(folder: Path, name: str, make: Callable[[Path], object]) -> Path:
        def made(homes: Homes, place: Path) -> Home:
            bare = homes.bare(place)
            write_urls(place, bare.urls)
            make(place)
            return bare

        copied = homes.copy(prototype(backend, f"faults-{name}", made), folder)
        write_urls(folder, copied.urls)
        return folder

    return copy


@pytest.fixture
def settle(cluster: "Cluster") -> Callable[[], None]:
    """Return ``settle()``, after which copied databases survive a crash.

    A copy of a sequence is logged as it stands, and what PostgreSQL takes from it afterwards
    is not until the next checkpoint: after a crash the same keys would be given again.
    """

    def checkpoint() -> None:
        with cluster.administered() as connection:
            connection.execute("CHECKPOINT")

    return checkpoint


@pytest.fixture
def furnish(template: Template) -> Furnish:
    """Return ``furnish(folder, analysts=..., names=...)``, copying what ``build`` builds so."""

    def copy(folder: Path, *, analysts: int, names: Sequence[str] = ()) -> Path:
        name = "-".join([str(analysts), *names])
        return template(folder, name, lambda place: build(place, analysts=analysts, names=names))

    return copy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
