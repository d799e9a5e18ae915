"""Provide a server whose pages have something on them, and browsers without a screen."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from tests.api import world as api
from tests.api.queries.loans import BOOKS, LOANS, ROWS
from tests.api.world import World
from tests.databases.homes import Home
from werkzeug.test import TestResponse

from penstock.web.http.csrf import COOKIE

HOSTILE = 'x<script>alert(1)<b onload="y">\'{{7*7}}&amp;'
"""A name that breaks out of what is not escaped."""

STREAM: dict[str, Any] = {
    "name": "arrivals",
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "binary",
    "length": 32,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.2}, "internal": {"epsilon": 0.4}},
}
HOSTILE_QUERY: dict[str, Any] = {
    **api.QUERY,
    "name": HOSTILE,
    "keys": [HOSTILE, "b"],
    "levels": {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.1}},
}
SCHEDULE: dict[str, Any] = {
    "name": "daily",
    "dataset": "loans",
    "cron": "0 3 * * *",
    "version": {
        "source": {"engine": "duckdb", "uri": "loans-{date}.csv"},
        "budgets": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 2}},
    },
    "queries": [
        {
            "name": "people-{date}",
            "aggregate": {"type": "count_units"},
            "mechanism": "gaussian",
            "share": 0.1,
        }
    ],
    "total": {"public": 10, "internal": 40},
}
HOST = "https://127.0.0.1:8080"
ORIGIN = "http://127.0.0.1:8080"
KEY = re.compile(r'name="form_key" value="([0-9a-f]{64})"')


def furnish(made: Home, folder: Path) -> dict[str, str]:
    """Return what the API's tests have, a stream, a sparse histogram, a schedule, hostile names."""
    tokens = api.furnish(made)
    world = api.open_world(made, tokens)
    file = folder / "loans.csv"
    file.write_text(ROWS, encoding="utf-8")
    spec = {**LOANS, "source": {"engine": "duckdb", "uri": str(file)}}
    world.answer("POST", "/api/v1/datasets", spec, by="root")
    world.answer("POST", "/api/v1/queries", BOOKS, by="root")
    world.answer("POST", "/api/v1/queries", HOSTILE_QUERY, by="root")
    world.answer("POST", "/api/v1/streams", STREAM, by="root")
    elements = {"from": 1, "values": [3, 1, 4, 1, 5, 9, 2, 6]}
    world.answer("POST", "/api/v1/streams/arrivals/elements", elements, by="root")
    hidden = {**STREAM, "name": "rising", "levels": {"internal": {"epsilon": 0.4}}}
    world.answer("POST", "/api/v1/streams", hidden, by="root")
    world.answer("POST", "/api/v1/streams/rising/elements", elements, by="root")
    closed = {**api.DATASET, "name": "closed", "budgets": {"internal": {"epsilon": 1}}}
    world.answer("POST", "/api/v1/datasets", closed, by="root")
    world.answer("POST", "/api/v1/schedules", SCHEDULE, by="root")
    world.server.database.close()
    return tokens


@dataclass
class Browser:
    """Browse as a user: keep cookies, send forms as a browser does, follow no redirect."""

    world: World
    client: FlaskClient
    keys: dict[str, str] = field(default_factory=dict)
    """By a session's cookie, the key of its forms."""

    def get(self, path: str, **headers: str) -> TestResponse:
        given = {"Accept": "text/html", **headers}
        return self.client.get(path, base_url=HOST, headers=given)

    def send(
        self, path: str, origin: str | None = ORIGIN, **fields: str | list[str]
    ) -> TestResponse:
        """Return a form with these fields alone."""
        headers = {"Accept": "text/html"} | ({"Origin": origin} if origin is not None else {})
        return self.client.post(path, base_url=HOST, headers=headers, data=fields)

    def submit(self, path: str, **fields: Any) -> TestResponse:
        """Return a form of one of the session's pages."""
        cookie = self.client.get_cookie(COOKIE, "127.0.0.1")
        assert cookie is not None
        if cookie.value not in self.keys:
            self.keys[cookie.value] = self.form_key()
        return self.send(path, form_key=self.keys[cookie.value], **fields)

    def led(self, answer: TestResponse) -> TestResponse:
        """Return the page that shows a sent form again, if the answer leads there."""
        place = (answer.location or "").partition("#")[0]
        return self.get(place) if "?typed=" in place else answer

    def previewed(self, path: str, **fields: Any) -> TestResponse:
        """Return the page with the preview of a form."""
        return self.led(self.submit(path, **fields))

    def form_key(self) -> str:
        found = KEY.search(self.get("/catalogue").text)
        assert found is not None
        return found.group(1)

    def sign_in(self, name: str, onward: str = "/catalogue") -> TestResponse:
        return self.send("/sign-in", token=self.world.tokens[name], next=onward)


Open = Callable[..., Browser]
Grown = Callable[[str, Callable[[World], None]], World]
"""Copies the furnished home with what was added to it the first time, under a name for that."""


def text_of(page: TestResponse) -> str:
    """Return a page's words alone."""
    main = page.text[page.text.index("<main") :]
    return " ".join(re.sub(r"<[^>]+>", " ", main).split())
