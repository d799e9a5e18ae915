"""Measure, in a process of its own, by how much releases of a long vector make it grow.

The first argument is the home, the second the query; a line is printed for each release, and at
last for reading one again by its name.
"""

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.unit.worlds import Streams, World

from penstock.http.answers import json_answer
from penstock.services.operations import home
from penstock.services.releases import history
from penstock.settings import Settings

# In this order the second lies between two others, and the third is a repeat.
LEVELS = (5000.0, 2000.0, 2000.0)
SHORT = 3000.0


def resident(field: str) -> int:
    """Return the resident bytes: now (VmRSS), or at most (VmHWM)."""
    match = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match
    return 1024 * int(match[1])


def growth(answer: Callable[[], object]) -> int:
    """Send what ``answer`` returns, and return by how many bytes the process grew meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what it is now
    before = resident("VmRSS")
    for _ in json_answer(answer(), 200).response:
        pass
    return resident("VmHWM") - before


def main() -> None:
    """Print what each release takes, after one of a short vector, which imports what is needed."""
    place, query = sys.argv[1:]
    settings = Settings(home=Path(place), log_patience=120.0, level_bytes_per_day=0)
    clock = lambda: datetime(2026, 1, 2, tzinfo=UTC)  # noqa: E731 - one value
    streams = Streams(1000)
    server = home.open_server(settings, clock=clock, randomness=streams)
    world = World(server, clock, streams)  # type: ignore[arg-type]  # it is not moved
    short = world.ask("ines", level=SHORT).view
    for level in LEVELS:
        grown = growth(lambda: world.ask("ines", query, level=level).view)  # noqa: B023 - called now
        sys.stdout.write(f"{grown}\n")
    # ``short`` again first: it imports what is needed.
    person = world.person("ines")
    history.values(server, person, short.id)
    name = history.levels(server, person, query)[0].id
    sys.stdout.write(f"{growth(lambda: history.values(server, person, name))}\n")


if __name__ == "__main__":
    main()
