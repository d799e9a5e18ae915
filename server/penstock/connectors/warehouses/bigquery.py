"""Reach BigQuery by its own driver.

A connection is ``bigquery://PROJECT?credentials=/PATH/OF/KEY.json``; without a path the machine's
own credentials are used.  A table is read as it was at one time (time travel), and recognized by
the time of its last change, which may lag behind rows that are streamed into it.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.connectors.connections import AT
from penstock.connectors.warehouses import dialects
from penstock.connectors.warehouses.address import address_of
from penstock.connectors.warehouses.session import PATIENCE, Columns, Refused, Session, away
from penstock.connectors.warehouses.surroundings import qualified
from penstock.errors import InvalidInput

_FORM = "bigquery://PROJECT?credentials=/PATH/OF/KEY.json"
_OPTIONS = frozenset({"credentials", "location"})


class BigQuerySession:
    """Hold a client of the driver."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        """Run one statement; see ``Session``."""
        from google.api_core import exceptions
        from google.auth.exceptions import GoogleAuthError
        from google.cloud import bigquery
        from requests.exceptions import RequestException

        configuration = bigquery.QueryJobConfig(
            query_parameters=[
                bigquery.ScalarQueryParameter(name, "STRING", value)
                for name, value in parameters.items()
            ],
            use_legacy_sql=False,
            use_query_cache=False,
        )
        try:
            job = self._client.query(text, job_config=configuration)
            table = job.result(timeout=PATIENCE).to_arrow(create_bqstorage_client=False)
        except (exceptions.ServerError, exceptions.Unauthorized, exceptions.RetryError):
            raise away("BigQuery") from None
        except (GoogleAuthError, RequestException, TimeoutError):
            raise away("BigQuery") from None
        except exceptions.GoogleAPIError:
            raise Refused("BigQuery does not run the statement.") from None
        return {name: table.column(name).to_pylist() for name in table.column_names}

    def close(self) -> None:
        """End the session."""
        self._client.close()


class BigQuery:
    """Describe BigQuery; see ``Engine``."""

    name: ClassVar[str] = "BigQuery"
    dialect: ClassVar[dialects.BigQuery] = dialects.BigQuery()
    longest: ClassVar[int] = 1_000_000
    types: ClassVar[Mapping[str, Sequence[str]]] = {
        "string": ("STRING",),
        "integer": ("INT64",),
        "number": ("INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC"),
        "boolean": ("BOOL",),
        "date": ("DATE",),
    }
    release: ClassVar[str] = "SELECT 'a service' AS version"

    def located(self, secret: str, table: Sequence[str]) -> Sequence[str]:
        """Return the table's project, dataset and name."""
        project = address_of(secret, "bigquery", _FORM, _OPTIONS).host
        return (project, *table) if len(table) == 2 else table

    def opened(self, secret: str) -> Session:
        """Return a session; nothing is sent before the first statement."""
        address = address_of(secret, "bigquery", _FORM, _OPTIONS)
        from google.auth.exceptions import GoogleAuthError
        from google.cloud import bigquery
        from google.oauth2 import service_account

        credentials, file = None, address.options.get("credentials")
        if file is not None:
            try:
                credentials = service_account.Credentials.from_service_account_file(file)
            except (OSError, ValueError, TypeError, AttributeError):  # JSON of any other shape
                raise InvalidInput(
                    "The file of credentials that the connection names cannot be read.", pointer=AT
                ) from None
        try:
            client = bigquery.Client(
                project=address.host,
                credentials=credentials,
                location=address.options.get("location"),
            )
        except GoogleAuthError:
            raise InvalidInput(
                "The machine has no credentials of its own for BigQuery: name a key's file in the"
                f" connection, {_FORM}.",
                pointer=AT,
            ) from None
        return BigQuerySession(client)

    def columns(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for a table's columns; texts with a collation have no type."""
        text = (
            "SELECT column_name AS name, CASE WHEN collation_name IS NULL"  # noqa: S608 - quoted
            " OR collation_name IN ('', 'NULL') THEN data_type ELSE 'COLLATED TEXT' END AS type"
            f" FROM {qualified(table[:-1], self.dialect)}.INFORMATION_SCHEMA.COLUMNS"
            " WHERE table_name = @table"
        )
        return text, {"table": table[-1]}

    def version(self, table: Sequence[str]) -> tuple[str, Mapping[str, str]]:
        """Return the statement for a table's last change."""
        text = (
            "SELECT CASE WHEN type = 1 THEN 'table' ELSE 'view' END AS kind,"  # noqa: S608 - quoted
            " CAST(last_modified_time AS STRING) AS version,"
            " FORMAT_TIMESTAMP('%Y-%m-%dT%H:%M:%E6S', CURRENT_TIMESTAMP(), 'UTC') AS now"
            f" FROM {qualified(table[:-1], self.dialect)}.__TABLES__ WHERE table_id = @table"
        )
        return text, {"table": table[-1]}

    def at(self, table: str, now: str) -> str:
        """Return the table at a time of the engine's clock."""
        moment = datetime.datetime.fromisoformat(now).isoformat(" ", "microseconds")
        return f"{table} FOR SYSTEM_TIME AS OF TIMESTAMP '{moment}+00'"
