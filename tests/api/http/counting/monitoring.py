"""Define how tests read the page that Prometheus reads."""

import re

from tests.api.world import World

TOKEN = "a-token-for-monitoring"


HEADERS = {"Authorization": f"Bearer {TOKEN}"}


ASK = "/api/v1/queries/{}/releases"


LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


LABEL = re.compile(r'(\w+)="([^"]*)"')


Sample = tuple[str, tuple[tuple[str, str], ...]]


def read(world: World) -> dict[Sample, float]:
    """Return all samples of the page, by name and labels."""
    answer = world.call("GET", "/metrics", headers=HEADERS)
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")
    return {
        (line[1], tuple(sorted(LABEL.findall(line[2] or "")))): float(line[3])
        for line in LINE.finditer(answer.text)
    }
