"""Choose where the log's witness is: in a folder, or in a bucket with object lock.

The bucket's connection (``PENSTOCK_CONNECTION_NAME``) is one JSON object, as those of datasets:
``{"store": "s3", "region": "...", "access_key_id": "...", "secret_access_key": "..."}``.  Without a
connection the machine's own credentials are used.
"""

import importlib.util
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from penstock.connectors.storage.access import S3Access, access_of
from penstock.encryption.secrets import Secrets
from penstock.errors import InvalidInput, LogUnavailable, Unavailable
from penstock.setting_connections import folded_connection, variable_of_connection
from penstock.settings import Settings
from penstock.transparency_log import sights
from penstock.transparency_log.witness.bucket import Bucket
from penstock.transparency_log.witness.bucket_witness import BucketWitness
from penstock.transparency_log.witness.file_witness import FileWitness

_SCHEME: Final = "s3://"


def place_of(settings: Settings) -> str:
    """Return in words where the witness is."""
    return settings.witness_bucket or str(settings.witness_path.resolve())


def of(settings: Settings, secrets: Callable[[], Secrets]) -> FileWitness | BucketWitness:
    """Return the witness that the settings name.

    Raises ``InvalidInput`` for a connection that cannot be used, and ``Unavailable``.
    """

    def keys() -> tuple[bytes, ...]:
        return sights.keys_of(secrets())

    if not settings.witness_bucket:
        return FileWitness(settings.witness_path, settings.log_patience, keys)
    if importlib.util.find_spec("obstore") is None:
        raise Unavailable(
            "A witness in a bucket needs the package obstore: run `pip install"
            " 'penstock[storage]'`, or unset PENSTOCK_WITNESS_BUCKET."
        )
    bucket, _, prefix = settings.witness_bucket.removeprefix(_SCHEME).partition("/")
    store = Bucket(bucket, prefix, _options(settings), settings.log_patience)
    return BucketWitness(store, settings.log_patience, keys)


def require_locked(settings: Settings, secrets: Callable[[], Secrets], now: datetime) -> None:
    """Raise ``Unavailable`` if a bucket does not lock what is stored in it.

    One that cannot be reached is reported by every change, as a folder that cannot be read is.
    """
    witness = of(settings, secrets)
    if isinstance(witness, BucketWitness):
        with suppress(LogUnavailable):
            witness.require_locked(now)


def _options(settings: Settings) -> dict[str, Any]:
    name = settings.witness_connection
    if not name:
        return {}
    secret = settings.connections.get(folded_connection(name))
    access = _access(secret.get_secret_value(), name) if secret is not None else None
    if access is None:
        # Nothing of what it is set to is repeated.
        raise InvalidInput(
            f"The setting witness_connection names {name!r}, which must be one JSON object for"
            f' S3: set {variable_of_connection(name)} to {{"store": "s3", "region": "eu-west-1"}}'
            " with the credentials."
        )
    return {**access.options(), **({"allow_http": True} if access.allow_http else {})}


def _access(text: str, name: str) -> S3Access | None:
    """Return what a connection says of S3; ``None`` if it describes no store where one writes."""
    try:
        access = access_of(text, name)
    except Unavailable:
        return None
    return access if isinstance(access, S3Access) and not access.anonymous else None
