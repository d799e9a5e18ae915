"""Run ``penstock metrics``: measure what ``/metrics`` does not show, for Prometheus."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import option
from penstock.errors import Unavailable

if TYPE_CHECKING:
    from prometheus_client import Metric

    from penstock.services.monitoring import Gauge

READABLE = 0o644
"""The mode of the file: node_exporter, which reads it, has an account of its own."""


class _Measured:
    """Collect gauges for ``prometheus_client``."""

    def __init__(self, gauges: "Sequence[Gauge]") -> None:
        self._gauges = gauges

    def collect(self) -> "Iterator[Metric]":
        """Yield the families of metrics."""
        from prometheus_client.core import GaugeMetricFamily

        for gauge in self._gauges:
            labels = tuple(gauge.values[0][0]) if gauge.values else ()
            family = GaugeMetricFamily(gauge.name, gauge.meaning, labels=labels)
            for named, value in gauge.values:
                family.add_metric([named[label] for label in labels], value)
            yield family


@click.command()
@option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Replace this file, in the folder of node_exporter's textfile collector, instead of"
    " printing.",
)
@option(
    "--backups",
    type=click.Path(file_okay=False, path_type=Path),
    help="Show when the newest backup in this folder was completed.",
)
@option(
    "--budgets",
    is_flag=True,
    help="Show the spent share of every budget, by dataset and tier, in steps of 5%. Readers of"
    " the metrics learn these names, and when registrations spend.",
)
@option(
    "--log-size",
    is_flag=True,
    help="Show the size of the log in steps of 1000 leaves. At short intervals it tells readers"
    " of the metrics how much is requested.",
)
@click.pass_obj
def metrics(
    operator: Operator, output: Path | None, backups: Path | None, *, budgets: bool, log_size: bool
) -> None:
    """Measure keys, witness and backups, in the text format of Prometheus.

    Run it by a timer. If something cannot be measured, nothing is written, and the exit code is not
    0; the old file stays, with the time in it.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    from penstock.services import monitoring

    gauges = monitoring.measure(
        operator.server, operator.principal, backups=backups, budgets=budgets, log_size=log_size
    )
    registry = CollectorRegistry()
    registry.register(_Measured(gauges))
    text = generate_latest(registry)
    if output is None:
        click.echo(text, nl=False)
    else:
        _replace(output, text)


def _replace(place: Path, text: bytes) -> None:
    """Replace a file at once: its reader sees the old or the new one.  Raises ``Unavailable``."""
    temporary = None
    try:
        # The suffix is not .prom, so that the collector does not read half of it.
        descriptor, temporary = tempfile.mkstemp(dir=place.parent, prefix=".penstock-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            os.fchmod(descriptor, READABLE)
        Path(temporary).replace(place)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
        raise Unavailable(f"{place} cannot be written ({error.strerror}).") from error
