"""Read what a connection says of a store: where it is, and the credentials.

The setting holds one JSON object, for example::

    {"store": "s3", "region": "eu-west-1", "access_key_id": "...", "secret_access_key": "..."}

or only the address of a bucket or a host, such as ``s3://lake``.  Without credentials those of the
machine are used (its role, or the provider's variables); ``"anonymous": true`` uses none.  Messages
name fields and never what is in them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
)

from penstock.connectors.storage.address import AT, SCHEMES, Address
from penstock.errors import InvalidInput, Unavailable


class _Access(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    def options(self) -> dict[str, Any]:
        """Return the library's options of the store, by its names; secrets in the clear."""
        fields = self.model_dump(exclude_none=True, exclude=self._own())
        return {name: _plain(value) for name, value in fields.items()}

    @staticmethod
    def _own() -> set[str]:
        return {"store", "allow_http", "anonymous", "buckets"}


class _Bucketed(_Access):
    allow_http: bool = False
    """Reach an endpoint without TLS, for a store on one's own network."""
    anonymous: bool = False
    """Sign nothing, for public buckets."""
    buckets: tuple[str, ...] | None = Field(default=None, strict=False)
    """The only buckets that datasets may be in; left out, all that the credentials reach."""


def _header(value: Any) -> Any:
    """Refuse what no header can have: libraries quote it in an error, or end in a panic."""
    text = _plain(value)
    if not (isinstance(text, str) and text.isascii() and text.isprintable()):
        raise ValueError("characters that no header has")
    return value


class S3Access(_Bucketed):
    """Hold the access to buckets of S3, or of a store that speaks its protocol."""

    store: Literal["s3"]
    region: str | None = None
    endpoint: str | None = None
    access_key_id: Annotated[str, AfterValidator(_header)] | None = None
    secret_access_key: SecretStr | None = None
    session_token: Annotated[SecretStr, AfterValidator(_header)] | None = None
    virtual_hosted_style_request: bool | None = None


class GcsAccess(_Bucketed):
    """Hold the access to buckets of Google Cloud Storage."""

    store: Literal["gcs"]
    service_account_key: SecretStr | None = None
    base_url: str | None = None


class AzureAccess(_Bucketed):
    """Hold the access to containers of one account of Azure."""

    store: Literal["azure"]
    account_name: Annotated[str, AfterValidator(_header)]
    account_key: Annotated[SecretStr, AfterValidator(_header)] | None = None
    sas_key: Annotated[SecretStr, AfterValidator(_header)] | None = None
    client_id: str | None = None
    client_secret: SecretStr | None = None
    tenant_id: str | None = None
    endpoint: str | None = None


class HttpAccess(_Access):
    """Hold the hosts whose files may be read, with a port if it is not the usual one."""

    store: Literal["http"]
    hosts: tuple[str, ...] = Field(strict=False, min_length=1)
    bearer_token: Annotated[SecretStr, AfterValidator(_header)] | None = None
    allow_http: bool = False


Access = S3Access | GcsAccess | AzureAccess | HttpAccess

_ANY: TypeAdapter[Access] = TypeAdapter(Annotated[Access, Field(discriminator="store")])

_STORES = {"s3": "s3://", "gcs": "gs://", "azure": "az://", "http": "https://"}


def access_of(text: str, name: str) -> Access:
    """Return what the setting of connection ``name`` says.  Raises ``Unavailable``."""
    try:
        return _ANY.validate_python(_short(text)) if "://" in text[:8] else _ANY.validate_json(text)
    except ValidationError as problem:
        fields = sorted({".".join(map(str, each["loc"][1:])) for each in problem.errors()} - {""})
        at = f" Look at {', '.join(fields[:5])}." if fields else ""
        raise Unavailable(
            f"The connection{f' {name!r}' if name else ''} does not describe a store: its setting"
            ' is one JSON object such as {"store": "s3", "region": "eu-west-1"}, whose store is'
            f" one of {', '.join(_STORES)}.{at} Ask the operator to correct it."
        ) from None


def _short(text: str) -> dict[str, object]:
    scheme, _, place = text.partition("://")
    places = [place.rstrip("/")] if place else []
    if SCHEMES.get(scheme) == "http":
        return {"store": "http", "hosts": places, "allow_http": scheme == "http"}
    return {"store": SCHEMES.get(scheme), "buckets": places or None}


def require_allowed(access: Access, address: Address) -> None:
    """Raise ``InvalidInput`` for an address that the connection does not reach."""
    if access.store != address.kind:
        raise InvalidInput(
            f"This connection reads addresses that begin with {_STORES[access.store]}.", pointer=AT
        )
    if isinstance(access, HttpAccess):
        if address.bucket.lower() not in {host.lower() for host in access.hosts}:
            raise InvalidInput(
                "This connection does not name this host; ask the operator to add it there.",
                pointer=AT,
            )
        if address.scheme == "http" and not access.allow_http:
            raise InvalidInput("This connection reads addresses with https:// alone.", pointer=AT)
    elif access.buckets is not None and address.bucket not in access.buckets:
        raise InvalidInput(
            "This connection does not name this bucket; ask the operator to add it there.",
            pointer=AT,
        )


def _plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def texts(options: Mapping[str, object]) -> dict[str, str]:
    """Return options as texts, as the libraries of tables take them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }
