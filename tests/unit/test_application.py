"""Test the application over a home: policies, paths, computations, and what it must not know."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from flask import Flask
from tests.unit.worlds import World

from penstock import application
from penstock.application import CLOSING, WEBHOOK, create_app_for
from penstock.services.computations.pooled import Pooled
from penstock.services.computing import Computing, Here
from penstock.services.context import Server
from penstock.services.jobs import runner as runner_module


def test_a_route_without_a_policy_keeps_it_from_starting() -> None:
    app = Flask("penstock")
    app.add_url_rule("/hole", "hole", lambda: "")
    with pytest.raises(RuntimeError, match="no policy says who may call hole"):
        application._require_policies(app)


def test_errors_reach_the_edge_and_paths_are_taken_to_the_letter(world: World) -> None:
    app = create_app_for(world.server)
    assert app.config["PROPAGATE_EXCEPTIONS"] is True
    assert not app.url_map.merge_slashes
    assert app.test_client().get("/healthz").status_code == 200
    assert app.test_client().get("/api/v1//tiers").status_code == 404
    app.extensions[CLOSING]()


@pytest.mark.parametrize(
    ("processes", "apart", "kind"), [(1, True, Pooled), (0, True, Here), (1, False, Here)]
)
def test_long_computations_are_done_where_settings_say(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    processes: int,
    apart: bool,
    kind: type[Computing],
) -> None:
    settings = world.server.settings.model_copy(update={"computing_processes": processes})
    seen: list[Server] = []
    product = runner_module.Runner

    def runner(server: Server, **more: object) -> object:
        seen.append(server)
        return product(server, **more)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(application, "Runner", runner)
    create_app_for(replace(world.server, settings=settings), apart=apart)
    assert type(seen[0].computing) is kind


def test_who_serves_does_not_know_how_the_owner_reaches_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = {"migration_database_url": "postgresql://owner@host/penstock"}
    settings = world.server.settings.model_copy(update=owner)
    opened: list[str] = []

    def open_server(given: object) -> Server:
        opened.append(given.migration_database_url)  # type: ignore[attr-defined]
        return world.server

    monkeypatch.setattr(application, "open_server", open_server)
    # Its thread would go on importing modules while other tests look through them.
    monkeypatch.setattr(application, "_warm", lambda _: None)
    app = application.create_app(settings)
    # Nor would the other one ever stop to ask this database for schedules.
    app.extensions[CLOSING]()
    assert opened == [""]


@pytest.mark.parametrize("url", ["", "https://example.org/"])
def test_messages_are_sent_by_a_thread_of_their_own_if_a_webhook_is_set(
    world: World, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    started: dict[str, object] = {}

    class Started(threading.Thread):
        def start(self) -> None:
            started[self.name] = self._target  # type: ignore[attr-defined]  # of threading

    changes = {"webhook_url": url, "webhook_secret": "s" * 32}
    settings = world.server.settings.model_copy(update=changes)
    server = replace(world.server, settings=settings)
    monkeypatch.setattr(application, "open_server", lambda _: server)
    own = SimpleNamespace(Thread=Started, Event=threading.Event)
    monkeypatch.setattr(application, "threading", own)
    app = application.create_app(settings)
    app.extensions[CLOSING]()
    assert started.get("webhook") == (app.extensions[WEBHOOK] if url else None)
    assert "schedules" in started
