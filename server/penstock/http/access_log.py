"""Write the server's log: one JSON object per line, on standard error.

It names routes, not addresses, and never repeats a body, a query string, a header, a
value, a token or the text of a library's error.
"""

import json
import logging
import sys
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TextIO

LOGGER = logging.getLogger("penstock")
ACCESS = logging.getLogger("penstock.access")
FAILURE = logging.getLogger("penstock.failure")

Fields = Mapping[str, object]
"""What a line says beyond its message."""


class Lines(logging.Formatter):
    """Format a log record as one line of JSON, with its ``fields``, and where an error was raised.

    gunicorn's own lines have this form too (``deploy/gunicorn.conf.py``).
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, "fields", {})
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            fields = {**fields, "traceback": [_cause(cause) for cause in _chain(error)]}
        return _line(record.created, record.levelname, record.name, record.getMessage(), fields)


def _line(created: float, level: str, logger: str, message: str, fields: Fields) -> str:
    at = datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    return json.dumps(
        {"at": at, "level": level, "logger": logger, "message": message, **fields},
        ensure_ascii=True,
    )


class ToStandardError(logging.StreamHandler[TextIO]):
    """Write to the current standard error, not to that of the time when the log was set up."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        self.stream = sys.stderr
        super().emit(record)

    def write(self, line: str) -> None:
        """Write a line that needs no record; it is lost if it cannot be written, as with others."""
        stream = sys.stderr
        self.acquire()
        try:
            stream.write(line + self.terminator)
            stream.flush()
        except (OSError, ValueError):
            return
        finally:
            self.release()


def configure(level: str) -> None:
    """Send the log to standard error, from ``level`` on.  A second call changes the level."""
    if not LOGGER.handlers:
        handler = ToStandardError()
        handler.setFormatter(Lines())
        LOGGER.addHandler(handler)
        LOGGER.propagate = False
    LOGGER.setLevel(level.upper())


def answered(
    request_id: str,
    *,
    verb: str | None,
    route: str | None,
    status: int,
    seconds: float,
    caller: str | None,
) -> None:
    """Log one answer; ``verb`` and ``route`` are None if no request could be read."""
    if not ACCESS.isEnabledFor(logging.INFO):
        return
    fields = {
        "request_id": request_id,
        "verb": verb,
        "route": route,
        "status": status,
        "seconds": round(seconds, 6),
        "caller": caller,
    }
    handler = _only_handler()
    if handler is None:
        ACCESS.info("answered", extra={"fields": fields})
    else:
        # A record takes longer than the line, and this is written for every request.
        handler.write(_line(time.time(), "INFO", ACCESS.name, "answered", fields))


def _only_handler() -> ToStandardError | None:
    """Return this log's handler if nothing else is told of answers, or changes what is told."""
    if ACCESS.handlers or ACCESS.filters or LOGGER.propagate or len(LOGGER.handlers) != 1:
        return None
    (handler,) = LOGGER.handlers
    if not isinstance(handler, ToStandardError) or handler.filters or handler.level:
        return None
    return handler if isinstance(handler.formatter, Lines) else None


def failed(request_id: str, error: BaseException) -> None:
    """Log the place where a request failed, without the error's text."""
    FAILURE.error(
        "failed",
        extra={
            "fields": {
                "request_id": request_id,
                "causes": [_cause(cause) for cause in _chain(error)],
            }
        },
    )


def withheld(request_id: str, code: str, path: object) -> None:
    """Log the path that an error is about, which its answer does not have."""
    fields = {"request_id": request_id, "code": code, "path": path}
    FAILURE.error("unavailable", extra={"fields": fields})


def _chain(error: BaseException) -> list[BaseException]:
    base_exceptions: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in base_exceptions:
        base_exceptions.append(following)
        following = following.__cause__ or following.__context__
    return base_exceptions


def _cause(error: BaseException) -> dict[str, object]:
    kind = type(error)
    frames = traceback.walk_tb(error.__traceback__)
    return {
        "error": f"{kind.__module__}.{kind.__qualname__}",
        "raised": [
            f"{frame.f_globals.get('__name__')}:{line} {frame.f_code.co_name}"
            for frame, line in frames
        ],
    }
