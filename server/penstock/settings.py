"""Declare every setting once: name, type, bounds, default, one sentence.

The environment takes precedence over ``penstock.toml``, and that over the defaults.  A setting that
may hold a secret can also be given by a file: the same variable with ``_FILE`` at its end names it.
Connections have names of the operator's own (``setting_connections``).
"""

from pathlib import Path
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from penstock import setting_sign_on
from penstock.setting_sign_on import SECRET

PREFIX: Final = "PENSTOCK_"
MEBIBYTE: Final = 1024 * 1024


def _or_none(value: object) -> object:
    return value or None


OptionalPath = Annotated[Path | None, BeforeValidator(_or_none)]
"""A path; an empty text means no path."""

Folder = Annotated[Path, BeforeValidator(_or_none)]
"""A path that must be given."""


class Settings(BaseSettings):
    """Hold what the operator can set.

    ``setting_sources.load`` reads it once, and it is passed on as an argument.

    Created in code, as ``Settings(home=...)``, it reads neither environment nor file.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    home: Folder = Field(
        Path("penstock-home"),
        description="The folder that holds the database, the keys and the witness.",
    )
    database_folder: OptionalPath = Field(
        None, description="The folder of the SQLite database; home/database."
    )
    keys_folder: OptionalPath = Field(
        None, description="The folder of the key ring, best on another disk; home/keys."
    )
    witness_folder: OptionalPath = Field(
        None, description="The folder of the log's witness, best on another disk; home/witness."
    )
    chunks_folder: str = Field(
        "", description="The folder or bucket (s3://, gs://, az://) of long vectors; home/chunks."
    )
    ray_address: str = Field(
        "",
        description=(
            "The Ray cluster whose workers draw long vectors: HOST:PORT, auto, or local; the server"
            " draws them itself when empty."
        ),
    )
    witness_bucket: str = Field(
        "",
        description=(
            "The bucket with object lock that holds the log's witness in place of a folder:"
            " s3://BUCKET/PREFIX."
        ),
    )
    witness_connection: str = Field(
        "",
        description=(
            "The connection with that bucket's region and credentials; those of the machine when"
            " empty."
        ),
    )
    data_folder: OptionalPath = Field(
        None,
        description=(
            "The only folder from which datasets may be registered; if empty, `data` in the home."
        ),
    )
    data_anywhere: bool = Field(
        default=False,
        description=(
            "Allow datasets from any file that the server can read if no data folder is set: on"
            " or off."
        ),
    )
    key_provider: str = Field(
        "keyring",
        description=(
            "The provider of the keys that wrap all others: keyring, a file in the keys folder,"
            " or pkcs11, a hardware module."
        ),
    )
    pkcs11_module: OptionalPath = Field(
        None, description="The PKCS #11 library of the hardware module."
    )
    pkcs11_token: str = Field("", description="The label of the hardware module's token.")
    pkcs11_pin_file: OptionalPath = Field(
        None, description="The file with the token's PIN, of mode 0600; keys/pin."
    )
    database_url: str = Field(
        "",
        description="The database's URL; a SQLite file in the database folder when empty.",
        repr=False,
        json_schema_extra=SECRET,
    )
    migration_database_url: str = Field(
        "",
        description=(
            "The same database under the role that owns and migrates it; the database's URL when"
            " empty."
        ),
        repr=False,
        json_schema_extra=SECRET,
    )
    replicas: str = Field(
        "none",
        description=(
            "Whether every commit on PostgreSQL must wait for a standby: required, or none for a"
            " deployment without one."
        ),
    )
    public_url: str = Field(
        "http://127.0.0.1:8080",
        description="The address under which readers reach the server; it may have a path.",
    )
    host: str = Field("127.0.0.1", description="The address that `penstock serve` listens on.")
    port: int = Field(
        8080, ge=0, le=65535, description="The port that `penstock serve` listens on."
    )
    workers: int = Field(
        2, ge=1, le=256, description="The number of processes that `penstock serve` starts."
    )
    time_quantum: float = Field(
        0.025,
        ge=0,
        le=10,
        description=(
            "Refusals and first releases are answered at multiples of this many seconds, so that"
            " timing reveals nothing; 0 switches it off."
        ),
    )
    token_days: int = Field(
        90, ge=1, le=3650, description="The days for which a token is valid by default."
    )
    token_longest_days: int = Field(
        365,
        ge=1,
        le=3650,
        description=(
            "The most days for which a token can be valid; tokens that it creates end with it."
        ),
    )
    tokens_per_user: int = Field(
        64, ge=1, le=100_000, description="The most valid tokens that a user may have."
    )
    session_idle_minutes: int = Field(
        30,
        ge=1,
        le=1440,
        description="The minutes after which a session of the pages ends without a request.",
    )
    session_hours: int = Field(
        12,
        ge=1,
        le=720,
        description="The most hours that a session lasts; it also ends with its token.",
    )
    busy_timeout: float = Field(
        10.0, ge=0.1, le=600, description="The seconds to wait for a locked database before a 503."
    )
    database_patience: float = Field(
        5.0, ge=0.5, le=600, description="The seconds that PostgreSQL may be silent before a 503."
    )
    log_patience: float = Field(
        1.8,
        ge=0.1,
        le=600,
        description="The seconds that an answer waits for the log and its witness before a 503.",
    )
    log_sink: str = Field(
        "",
        description="A second place that must store the log before requests are answered:"
        " file:/PATH, syslog:/SOCKET or syslog+tcp:HOST:PORT.",
    )
    client_patience: float = Field(
        60.0,
        ge=1,
        le=86400,
        description=(
            "The seconds that a client may take to send a request, and again to receive its answer."
        ),
    )
    body_limit: int = Field(
        MEBIBYTE, ge=1024, le=2**40, description="The largest request body, in bytes."
    )
    query_body_limit: int = Field(
        256 * MEBIBYTE, ge=1024, le=2**40, description="The largest body of a query, in bytes."
    )
    upload_limit: int = Field(
        256 * MEBIBYTE, ge=0, le=2**40, description="The largest upload, in bytes; 0 allows none."
    )
    dimension_limit: int = Field(
        10000000,
        ge=1,
        le=100_000_000,
        description="The most values of a query; over 10^7 only of sums and counts over groups.",
    )
    levels_per_day: int = Field(
        1000,
        ge=0,
        le=2**50,
        description=(
            "The most levels released to a user in 24 hours, tiers' levels not counted; ten"
            " ranges of streams count as one; 0 means no limit."
        ),
    )
    level_bytes_per_day: int = Field(
        64 * MEBIBYTE,
        ge=0,
        le=2**50,
        description="The most bytes of these levels together; 0 means no limit.",
    )
    registrations_per_day: int = Field(
        100,
        ge=0,
        description="The most queries that an analyst may register in a day; 0 means no limit.",
    )
    questions_per_minute: int = Field(
        300, ge=0, description="The most questions an analyst may try in a minute; 0: no limit."
    )
    room_reserve: int = Field(
        64 * MEBIBYTE,
        ge=0,
        le=2**50,
        description=(
            "The bytes of the database's disk space that are reserved for revoking access; 0"
            " reserves none."
        ),
    )
    database_largest: int = Field(
        0,
        ge=0,
        le=2**50,
        description="The most bytes that a PostgreSQL database may have; 0 means no limit.",
    )
    request_burst: int = Field(
        1000,
        ge=1,
        le=1_000_000,
        description="The most requests that a principal may make at once.",
    )
    request_rate: float = Field(
        500.0,
        ge=0,
        le=1_000_000,
        description="The requests per second allowed to a principal after that; 0 means no limit.",
    )
    failed_sign_ins: int = Field(
        10,
        ge=0,
        le=1_000_000,
        description="The most invalid tokens from one address in a minute; 0 means no limit.",
    )
    oidc_issuer: str = setting_sign_on.ISSUER
    oidc_audience: str = setting_sign_on.AUDIENCE
    oidc_claim: str = setting_sign_on.CLAIM
    oidc_client_id: str = setting_sign_on.CLIENT_ID
    oidc_client_secret: str = setting_sign_on.CLIENT_SECRET
    oidc_scopes: str = setting_sign_on.SCOPES
    oidc_groups_claim: str = setting_sign_on.GROUPS_CLAIM
    oidc_create_users: bool = setting_sign_on.CREATE_USERS
    cosigners: str = Field(
        "", description="The public keys of the log's cosigners, separated by spaces."
    )
    two_person_rule: bool = Field(
        default=False,
        description=(
            "Require two admins, one to propose and one to approve, for raising a dataset's"
            " largest budget, deleting, and acknowledging a restore: on or off."
        ),
    )
    processor_burst: float = Field(
        120.0,
        ge=1,
        le=1_000_000,
        description=(
            "The processor seconds that a principal may use at once; very short requests do not"
            " count."
        ),
    )
    processor_rate: float = Field(
        0.25,
        ge=0,
        le=1_000_000,
        description=(
            "The processor seconds that a principal may use in every second after that; 0 means"
            " no limit."
        ),
    )
    computing_processes: int = Field(
        1,
        ge=0,
        le=64,
        description=(
            "The processes that each worker has for long computations; with 0 they run in the"
            " worker itself."
        ),
    )
    computing_queue: int = Field(
        2,
        ge=0,
        le=64,
        description="The most computations of a worker that may wait for one of these processes.",
    )
    computing_seconds: float = Field(
        30.0,
        ge=0.1,
        le=3600,
        description="The processor seconds that one computation may take.",
    )
    computing_memory: int = Field(
        2048 * MEBIBYTE,
        ge=768 * MEBIBYTE,
        le=2**50,
        description="The bytes of address space that one computation may take.",
    )
    statement_timeout: float = Field(
        3600.0,
        ge=1,
        le=7 * 86_400,
        description="The seconds for one statement of PostgreSQL or ClickHouse over a dataset.",
    )
    metrics_token: str = Field(
        "",
        description="The bearer token for /metrics; when empty, there is no such page.",
        repr=False,
        json_schema_extra=SECRET,
    )
    webhook_url: str = Field(
        "",
        description="The https address that is told of events; none when empty.",
        repr=False,
        json_schema_extra=SECRET,
    )
    webhook_secret: str = Field(
        "", description="The secrets that sign its messages.", repr=False, json_schema_extra=SECRET
    )
    webhook_events: str = Field(
        "request.opened request.decided",
        description="The kinds of events that the webhook is told of, separated by spaces.",
    )
    traces_url: str = Field("", description="The collector of OTLP traces; none when empty.")
    log_level: str = Field("INFO", description="The level from which messages are logged.")
    connections: dict[str, SecretStr] = Field(
        {}, description="The secrets of connections, by name.", repr=False
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature of pydantic-settings
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use arguments only: ``load`` reads the other sources, and records which gave what."""
        return (init_settings,)

    @property
    def database_path(self) -> Path:
        """Return the folder of the SQLite database."""
        return self.database_folder or self.home / "database"

    @property
    def keys_path(self) -> Path:
        """Return the folder of the key ring and the server's secrets."""
        return self.keys_folder or self.home / "keys"

    @property
    def witness_path(self) -> Path:
        """Return the folder of the log's witness."""
        return self.witness_folder or self.home / "witness"

    @property
    def resolved_database_url(self) -> str:
        """Return the database's URL, that of the SQLite file if none is set."""
        return self.database_url or f"sqlite:///{(self.database_path / 'penstock.db').resolve()}"

    @property
    def resolved_migration_url(self) -> str:
        """Return the URL under which the schema is changed."""
        return self.migration_database_url or self.resolved_database_url
