"""Serve metrics to Prometheus: the server's health and load, and nothing about who requests what.

Every label has a closed list of values: the templates of the routes, verbs, classes of
statuses.  This folder's README lists what is not counted, and why.
"""

import hmac
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, request

import penstock
from penstock.api.operations import Policy
from penstock.errors import NotAuthenticated, PenstockError
from penstock.http.bearer import presented
from penstock.http.counting.counters import Counters
from penstock.services import disk_room
from penstock.services.audit import clocks
from penstock.services.context import Server
from penstock.services.jobs import queue
from penstock.services.noise.keys import require_keys
from penstock.services.operations.home import utc_now

if TYPE_CHECKING:
    from prometheus_client import Metric

PATH = "/metrics"
NAME = "metrics"
POLICIES = {NAME: Policy("holders of the metrics token of the settings")}


class Health:
    """Check on each request if the server can serve."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def parts(self) -> dict[str, bool]:
        """Return each part by name."""
        server = self._server
        return {
            "database": _holds(server.database.check_schema),
            "keys": _holds(server.provider.health) and _holds(lambda: require_keys(server)),
            "room": _holds(lambda: disk_room.require(server.database)),
            "clock": _holds(lambda: clocks.require(server)),
            "log": _holds(server.sequencer.require_sound),
        }

    def queue(self) -> list[tuple[str, str, float]] | None:
        """Return the gauges of the queue of jobs; None without one, or if it cannot be read."""
        try:
            state = queue.state(self._server)
        except PenstockError:
            return None
        if state is None:
            return None
        since = 0.0
        if state.oldest is not None:
            since = max(0.0, (utc_now() - state.oldest).total_seconds())
        return [
            ("penstock_workers", "Workers that are alive.", state.workers),
            ("penstock_jobs_waiting", "Jobs that wait for a worker.", state.waiting),
            ("penstock_jobs_taken", "Jobs that workers have taken.", state.taken),
            ("penstock_jobs_oldest_waiting_seconds", "How long the oldest job waits.", since),
        ]


def _holds(check: Callable[[], object]) -> bool:
    try:
        check()
    except PenstockError:
        return False
    return True


class Collector:
    """Collect counts and health checks for ``prometheus_client``."""

    def __init__(self, counters: Counters, health: Health) -> None:
        self._requests = counters.requests
        self._computations = counters.computations
        self._refusals = counters.refusals
        self._health = health

    def collect(self) -> "Iterator[Metric]":
        """Yield the families of metrics."""
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        labels = ("verb", "route", "status")
        requests = CounterMetricFamily("penstock_requests", "Requests answered.", labels=labels)
        # Without a sum, which would reveal the duration of a single request between two scrapes.
        seconds = HistogramMetricFamily(
            "penstock_request_seconds", "How long answers took.", labels=labels
        )
        bounds = [*map(str, self._requests.lines.edges), "+Inf"]
        for verb, route, status, counts in self._requests.counted():
            values = (verb, route, status)
            upto = [sum(counts[: number + 1]) for number in range(len(counts))]
            requests.add_metric(values, upto[-1])
            seconds.add_metric(values, list(zip(bounds, upto, strict=True)), sum_value=None)
        yield requests
        yield seconds
        # Without the time they took, which depends on what was requested.
        computed = CounterMetricFamily(
            "penstock_computations", "Long computations, by outcome.", labels=("outcome",)
        )
        for outcome, times in self._computations.counted():
            computed.add_metric((outcome,), times)
        yield computed
        refused = CounterMetricFamily(
            "penstock_refusals", "Refused requests, by cause.", labels=("cause",)
        )
        for cause, times in self._refusals.counted():
            refused.add_metric((cause,), times)
        yield refused
        parts = GaugeMetricFamily(
            "penstock_part_up", "Whether a part of the server works.", labels=("part",)
        )
        for part, works in self._health.parts().items():
            parts.add_metric((part,), works)
        yield parts
        state = self._health.queue()
        if state is not None:
            for name, meaning, value in state:
                yield GaugeMetricFamily(name, meaning, value=value)
        build = GaugeMetricFamily("penstock_build_info", "What is running.", labels=("version",))
        build.add_metric((penstock.__version__,), 1)
        yield build


def add_page(blueprint: Blueprint, server: Server, counters: Counters) -> None:
    """Serve ``/metrics`` to holders of the metrics token; 404 if the settings have no token."""
    collector = Collector(counters, Health(server))
    expected = server.settings.metrics_token.encode()

    def page() -> Response:
        if not expected:
            abort(HTTPStatus.NOT_FOUND)
        token = presented(request.headers.get("Authorization"))
        if not hmac.compare_digest(token.encode(), expected):
            if token:
                counters.limits.failed_sign_in(request.remote_addr or "")
            raise NotAuthenticated(
                "Send the metrics token from the server's settings as the bearer token."
            )
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        registry = CollectorRegistry()
        registry.register(collector)
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)

    blueprint.add_url_rule(PATH, NAME, page, methods=["GET"], provide_automatic_options=False)
