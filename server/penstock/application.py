"""Make the server's WSGI application: open one home, wire everything, guard every route.

``gunicorn -c deploy/gunicorn.conf.py 'penstock.application:create_app()'`` serves the home
that the environment names; each worker opens it after the fork.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from flask import Flask, Request
from werkzeug.routing import MapAdapter

from penstock import api, web
from penstock.accounting.reporting.composition import import_late
from penstock.computing.bounds import Bounds
from penstock.computing.pool import Pool
from penstock.http import access_log
from penstock.http.counting.counters import Counters, opened
from penstock.http.counting.shared_memory import inherited
from penstock.http.edge import Edge
from penstock.http.mount import Mounted, prefix_of
from penstock.http.pacing import Pace
from penstock.services.audit import exports
from penstock.services.computations.pooled import MODULE, Pooled
from penstock.services.computing import Computing, Here
from penstock.services.context import Server
from penstock.services.jobs.runner import PATIENCE_SECONDS, Runner, unwatched
from penstock.services.operations.home import open_server
from penstock.services.schedules import occurrences
from penstock.services.webhook import looking
from penstock.setting_sources import load
from penstock.settings import (
    Settings,
)
from penstock.tracing.sending import tracing_of
from penstock.tracing.spans import Tracing
from penstock.tracing.traced_requests import TracedRequests
from penstock.tracing.traced_steps import traced

CLOSING = "penstock.closing"
"""The key in ``Flask.extensions`` of a function that is called before a process ends."""

SCHEDULES = "penstock.schedules"
"""The key in ``Flask.extensions`` of a function that carries out schedules until it is closed."""

WEBHOOK = "penstock.webhook"
"""The key in ``Flask.extensions`` of a function that sends what is due until it is closed."""


class _Application(Flask):
    """Represent an application without coroutines and hosts: no request looks for any."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Return what matches a request's path; the host is read once, and decides nothing.

        Raises ``SecurityError`` for a host that is malformed.
        """
        if request is None:
            return None
        environ = request.environ
        script, path, query = (
            environ.get(name, "").encode("latin-1").decode(errors="replace")
            for name in ("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING")
        )
        return self.url_map.bind(
            request.host,
            script,
            url_scheme=environ["wsgi.url_scheme"],
            default_method=environ["REQUEST_METHOD"],
            path_info=path,
            query_args=query,
        )


def create_app(settings: Settings | None = None) -> Flask:
    """Return the application over an existing home; settings default to the environment's.

    Raises ``KeysUnavailable``, ``DatabaseUnavailable``, ``SchemaUnknown`` or
    ``Unavailable`` if the home cannot be opened, with what to do next.
    """
    if settings is None:
        settings, _ = load()
    # The server must not have the rights of the database's owner.
    settings = settings.model_copy(update={"migration_database_url": ""})
    access_log.configure(settings.log_level)
    tracing = tracing_of(settings)
    app = create_app_for(open_server(settings), descriptor=inherited(), apart=True, tracing=tracing)
    threading.Thread(target=_warm, args=[app], name="warming", daemon=True).start()
    threading.Thread(target=app.extensions[SCHEDULES], name="schedules", daemon=True).start()
    if settings.webhook_url:
        threading.Thread(target=app.extensions[WEBHOOK], name="webhook", daemon=True).start()
    return app


def create_app_for(
    server: Server,
    *,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
    descriptor: int | None = None,
    patience: float = PATIENCE_SECONDS,
    apart: bool = False,
    tracing: Tracing | None = None,
) -> Flask:
    """Return the application over an open server; ``clock`` and ``sleep`` pace its answers.

    ``descriptor`` is the memory for counts that it shares with other processes, ``patience`` the
    seconds that a page waits for a job before it shows its progress, ``apart`` is true if long
    computations run in separate processes, ``tracing`` receives spans if there is one.
    """
    app = _Application("penstock", static_folder=None)
    # Unhandled errors go to the edge, which decides what may be said about them.
    app.config["PROPAGATE_EXCEPTIONS"] = True
    app.url_map.merge_slashes = False
    counters = opened(server, (*api.ROUTES, *web.ROUTES), clock, descriptor)
    server = replace(server, computing=_computing(server.settings, counters, apart=apart))
    if tracing is not None:
        server = traced(server, tracing)
    rhythm = Pace(server.settings.time_quantum, clock, sleep)
    app.register_blueprint(api.blueprint(server, rhythm, counters))
    exports.tidy(server)
    runner = Runner(
        server,
        patience=patience,
        failed=access_log.failed,
        computed=counters.limits.computed,
        watching=unwatched if tracing is None else tracing.job,
    )
    app.register_blueprint(web.blueprint(server, counters.limits, runner))
    _require_policies(app)
    prefix = prefix_of(server.settings.public_url)
    below = Mounted(app.wsgi_app, prefix)
    edge = Edge(below, counters.requests, counters.limits.answered, clock, refused=counters.refuse)
    ended = threading.Event()
    app.extensions[SCHEDULES] = partial(
        occurrences.look_on, server, runner, access_log.failed, ended
    )
    app.extensions[WEBHOOK] = partial(looking.look_on, server, access_log.failed, ended)

    def close() -> None:
        ended.set()
        counters.refused.close()
        if tracing is not None:
            tracing.close()

    app.extensions[CLOSING] = close
    outermost = edge if tracing is None else TracedRequests(edge, tracing, prefix)
    app.wsgi_app = outermost  # type: ignore[method-assign]  # how Flask is wrapped
    return app


def _computing(settings: Settings, counters: Counters, *, apart: bool) -> Computing:
    """Return the service for long computations, which run one at a time for each user."""
    if not apart or settings.computing_processes == 0:
        return Here(counters.turns)
    bounds = Bounds(settings.computing_seconds, settings.computing_memory)
    return Pooled(
        Pool(
            MODULE,
            processes=settings.computing_processes,
            queue=settings.computing_queue,
            bounds=bounds,
            turns=counters.turns,
            noted=counters.computed,
        )
    )


def _warm(app: Flask) -> None:
    """Do late imports and compile pages before the first visitor would wait for them.

    A request that comes earlier does what it needs by itself.
    """
    import_late()
    for name in app.jinja_env.list_templates():
        app.jinja_env.get_template(name)


def _require_policies(app: Flask) -> None:
    """Raise ``RuntimeError`` for a route without a declared policy."""
    policies = {f"api.{name}" for name in api.POLICIES} | {f"web.{name}" for name in web.POLICIES}
    bare = {rule.endpoint for rule in app.url_map.iter_rules()} - policies
    if bare:
        raise RuntimeError(f"no policy says who may call {', '.join(sorted(bare))}")
