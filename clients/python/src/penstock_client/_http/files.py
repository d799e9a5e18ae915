"""Fetch answers as files, in the formats of tables."""

from collections.abc import Mapping

from penstock_client._http.transport import Transport
from penstock_client.errors import InvalidArgument

MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}
"""The media type of each format that a file has."""


def rows_file(transport: Transport, path: str, form: str, rows: int | None) -> bytes:
    """Return ``rows`` synthetic rows as a file, or as many as the server makes by itself.

    Raises ``InvalidArgument`` for an unknown format, and what ``Transport.file`` does.
    """
    if form not in MEDIA_TYPES:
        raise InvalidArgument(f"A file of rows is {', '.join(MEDIA_TYPES)}, not {form}.")
    parameters: dict[str, str | int] = {"format": form}
    if rows is not None:
        parameters["rows"] = int(rows)
    return transport.file(path, parameters, MEDIA_TYPES[form])
