"""Read the address of a dataset in a bucket or on a web server.

::

    s3://bucket/folder/visits.parquet      one object (gs://bucket, az://container likewise)
    s3://bucket/folder/*.parquet           every object that the pattern matches
    s3://bucket/folder/visits.json         a manifest, which lists objects
    https://host/folder/visits.parquet     one file of a web server, which has no patterns
    delta+s3://bucket/table?version=3      a Delta table
    iceberg+s3://bucket/table/metadata/00001-5f.metadata.json?snapshot=8271
                                           an Iceberg table, by its metadata file

Nothing else is an address: no files of this machine, no instance metadata, no other scheme.
"""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from penstock.connectors.planning.refusals import pointer
from penstock.errors import InvalidInput

AT: Final = pointer("source", "uri")

Kind = Literal["s3", "gcs", "azure", "http"]
Table = Literal["delta", "iceberg"]

SCHEMES: Final[dict[str, Kind]] = {
    "s3": "s3",
    "gs": "gcs",
    "az": "azure",
    "https": "http",
    "http": "http",
}

_TABLES: Final[dict[str, Table]] = {"delta": "delta", "iceberg": "iceberg"}
_PINS: Final[dict[Table, str]] = {"delta": "version", "iceberg": "snapshot"}
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,221}")
_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
_PIN: Final = re.compile(r"(version|snapshot)=([0-9]{1,19})")
_LONGEST: Final = 2048


@dataclass(frozen=True)
class Address:
    """Hold the parts of an address; ``bucket`` is a host for a web server.

    ``path`` has no slash in front.  ``pin`` is the version or snapshot of a table.
    """

    scheme: str
    bucket: str
    path: str
    table: Table | None = None
    pin: int | None = None

    @property
    def kind(self) -> Kind:
        """Return the kind of store that the scheme belongs to."""
        return SCHEMES[self.scheme]

    @property
    def root(self) -> str:
        """Return the store's own address, as it stands in front of the names of objects."""
        return f"{self.scheme}://{self.bucket}/"

    def __str__(self) -> str:
        """Return the address as it is written in a spec."""
        prefix = f"{self.table}+" if self.table else ""
        pin = "" if self.table is None or self.pin is None else f"?{_PINS[self.table]}={self.pin}"
        return f"{prefix}{self.root}{self.path}{pin}"

    def pinned(self, pin: int) -> "Address":
        """Return the address of one version of the table."""
        return replace(self, pin=pin)


def parsed(uri: str) -> Address:
    """Return the parts of an address.  Raises ``InvalidInput``, which repeats none of them."""
    if len(uri) > _LONGEST or not uri.isprintable():
        raise _refusal("An address has at most 2048 characters, all of them printable.")
    head, _, rest = uri.partition("://")
    prefix, plus, scheme = head.lower().rpartition("+")
    table = _TABLES.get(prefix)
    if scheme not in SCHEMES or (plus and table is None):
        raise _refusal(
            "An address begins with s3://, gs://, az:// or https://, and in front of it delta+ or"
            " iceberg+ for a table. A file on the server's machine is named by its path alone."
        )
    location, question, options = rest.partition("?") if table else (rest, "", "")
    bucket, slash, path = location.partition("/")
    _require_place(SCHEMES[scheme], scheme, bucket)
    if not slash or not path:
        raise _refusal("Name what is in the bucket, after its name and a slash.")
    _require_path(path)
    pin = _pin(table, options) if question else None
    address = Address(scheme, bucket, path.rstrip("/") if table else path, table, pin)
    _require_form(address)
    return address


def _require_place(kind: Kind, scheme: str, bucket: str) -> None:
    if not (_HOST if kind == "http" else _BUCKET).fullmatch(bucket):
        word = "host" if kind == "http" else "container" if kind == "azure" else "bucket"
        raise _refusal(
            f"After {scheme}:// comes the name of the {word}, without a user, a password or an"
            " escape."
        )


def _require_path(path: str) -> None:
    if any(part in {"", ".", ".."} for part in path.rstrip("/").split("/")):
        raise _refusal("A path has no empty parts, and none that are . or ..")
    if "#" in path or "\\" in path:
        raise _refusal("A path has no # and no backslash.")


def _pin(table: Table | None, options: str) -> int:
    match = _PIN.fullmatch(options)
    if table is None or match is None or match[1] != _PINS[table]:
        raise _refusal("After ? comes version=NUMBER for Delta, or snapshot=NUMBER for Iceberg.")
    return int(match[2])


def _require_form(address: Address) -> None:
    if address.table is None:
        if not address.path.lower().endswith((".parquet", ".json")):
            raise _refusal(
                "In a bucket there are Parquet files: an address ends in .parquet, which may have"
                " * in it, or in .json for a manifest that lists them. CSV files have to be on the"
                " server's machine."
            )
        if "*" in address.path and address.path.lower().endswith(".json"):
            raise _refusal("A manifest is one object: its name has no * in it.")
    elif address.kind == "http":
        raise _refusal("A table is in a bucket: s3://, gs:// or az://.")
    elif "*" in address.path:
        raise _refusal("A table is read whole: its address has no * in it.")
    elif address.table == "iceberg" and not address.path.endswith(".metadata.json"):
        raise _refusal(
            "An Iceberg table is named by its metadata file, which ends in .metadata.json: the"
            " catalog shows it as the table's metadata location."
        )
    if address.kind == "http":
        _require_url(address)


def _require_url(address: Address) -> None:
    parts = urlsplit(str(address))
    if "*" in address.path or parts.query or "%" in address.path:
        raise _refusal(
            "A web server lists no files, so an address there has no * in it; it has no ? and no"
            " % either. Name one file, or a manifest."
        )


def _refusal(sentence: str) -> InvalidInput:
    return InvalidInput(sentence, pointer=AT)
