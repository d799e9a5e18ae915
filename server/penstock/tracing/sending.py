"""Send spans to the collector of the settings, and log in words if it does not take them.

The library sends from a thread of its own, which begins in the process that calls ``tracing_of``.
The texts of its warnings may contain an address, a header or a collector's answer: the log has a
sentence of ours in place of each, with a status and the class of an error.
"""

import logging
from collections.abc import Mapping
from typing import Final

from penstock.errors import Unavailable
from penstock.http.access_log import Lines, ToStandardError
from penstock.settings import Settings
from penstock.tracing.spans import Tracing

SENTENCES: Final[Mapping[str, str]] = {
    "Transient error": "The collector of traces did not take spans; they are sent again.",
    "Failed to export": "The collector of traces did not take spans; they are lost.",
    "Queue full": "Spans come faster than the collector of traces takes them; some are lost.",
    "Couldn't recognize sampler": "OTEL_TRACES_SAMPLER names no sampler that OpenTelemetry has;"
    " parentbased_always_on is used.",
    "Could not convert TRACES_SAMPLER_ARG": "OTEL_TRACES_SAMPLER_ARG is no number;"
    " 1.0 is used, which records all.",
    "Header format invalid": "OTEL_EXPORTER_OTLP_HEADERS has a part that is not of the form"
    " name=value, with %20 in place of a space; it is not sent.",
    "Invalid key value resource": "OTEL_RESOURCE_ATTRIBUTES has a part that is not of the form"
    " name=value; it is left out.",
    "Invalid timeout value": "OTEL_EXPORTER_OTLP_TIMEOUT is no number of seconds; 10 is used.",
    "Unsupported compression": "OTEL_EXPORTER_OTLP_COMPRESSION is neither gzip, deflate nor none;"
    " none is used.",
}
"""What is logged in place of a warning of the library, by the beginning of its text."""

OTHER: Final = "OpenTelemetry has a warning, whose text may contain a secret; its place is below."


def tracing_of(settings: Settings) -> Tracing | None:
    """Return what sends traces to the collector of the settings, None if none is set.

    Raises ``Unavailable`` if the library is missing, or cannot use what the environment says.
    """
    if not settings.traces_url:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Unavailable(
            "PENSTOCK_TRACES_URL is set, and traces need the packages of OpenTelemetry: run"
            " `pip install 'penstock[otel]'`, or unset PENSTOCK_TRACES_URL."
        ) from None
    _log_as_others()
    try:
        return Tracing(BatchSpanProcessor(OTLPSpanExporter(endpoint=settings.traces_url)))
    except (ImportError, RuntimeError, ValueError):
        raise Unavailable(
            "PENSTOCK_TRACES_URL is set, and OpenTelemetry cannot use a variable of the environment"
            " that begins with OTEL_: correct or unset those (OTEL_BSP_* must be positive whole"
            " numbers, and a batch no larger than the queue), or unset PENSTOCK_TRACES_URL."
        ) from None


class _WithoutTexts(Lines):
    """Format a warning of the library without anything that it quotes."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: a sentence of ours, the library's place, a status, a class."""
        values = record.args if isinstance(record.args, tuple) else ()
        fields: dict[str, object] = {"place": f"{record.module}:{record.lineno}"}
        for value in values:
            if isinstance(value, BaseException):
                fields["error"] = f"{type(value).__module__}.{type(value).__qualname__}"
            elif type(value) is int:
                fields["number"] = value
        text = str(record.msg)
        message = next(
            (ours for begins, ours in SENTENCES.items() if text.startswith(begins)), OTHER
        )
        ours = logging.makeLogRecord({**vars(record), "msg": message, "args": (), "fields": fields})
        return super().format(ours)


def _log_as_others() -> None:
    """Write the library's warnings in the form of other lines."""
    logger = logging.getLogger("opentelemetry")
    if not logger.handlers:
        handler = ToStandardError()
        handler.setFormatter(_WithoutTexts())
        logger.addHandler(handler)
        logger.propagate = False
