"""Every setting, declared once: name, type, default, one sentence.

Environment over ``penstock.toml`` over defaults.  A setting that may hold a secret can
also be given by a file: the same variable with ``_FILE`` behind it names the file.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from penstock.errors import InvalidInput
from penstock.nesting import flat, shallow
from penstock.setting_values import convert, read_secret, require_possible, shown

PREFIX = "PENSTOCK_"
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """What the operator can set.  Read once, by ``load``; passed on as an argument."""

    home: Path = field(
        default=Path("penstock-home"),
        metadata={"sentence": "The folder that holds the database, the keys and the witness."},
    )
    database_folder: Path | None = field(
        default=None, metadata={"sentence": "Where the SQLite database lives; home/database."}
    )
    keys_folder: Path | None = field(
        default=None,
        metadata={"sentence": "Where the key ring lives, best on another disk; home/keys."},
    )
    witness_folder: Path | None = field(
        default=None,
        metadata={"sentence": "Where the log's witness lives, best on another disk; home/witness."},
    )
    data_folder: Path | None = field(
        default=None,
        metadata={
            "sentence": "The only folder from which datasets may be registered; where it is"
            " empty, `data` in the home."
        },
    )
    data_anywhere: bool = field(
        default=False,
        metadata={
            "sentence": "Whether, where no data folder is set, datasets may be registered from any"
            " file that the server can read: on or off."
        },
    )
    key_provider: str = field(
        default="keyring",
        metadata={
            "sentence": "Who keeps the keys that wrap all others: keyring, a file in the keys"
            " folder, or pkcs11, a hardware module."
        },
    )
    pkcs11_module: Path | None = field(
        default=None, metadata={"sentence": "The library that speaks to the hardware module."}
    )
    pkcs11_token: str = field(
        default="", metadata={"sentence": "The label of the hardware module's token."}
    )
    pkcs11_pin_file: Path | None = field(
        default=None,
        metadata={"sentence": "The file, of mode 0600, that holds the token's PIN; keys/pin."},
    )
    database_url: str = field(
        default="",
        metadata={
            "sentence": "The database's URL; a SQLite file in the database folder when empty.",
            "secret": True,
        },
        repr=False,
    )
    migration_database_url: str = field(
        default="",
        metadata={
            "sentence": "The same database under the role that owns it, which migrates;"
            " the database's URL when empty.",
            "secret": True,
        },
        repr=False,
    )
    public_url: str = field(
        default="http://127.0.0.1:8080",
        metadata={
            "sentence": "The address under which readers reach the server; it may have a path."
        },
    )
    host: str = field(
        default="127.0.0.1", metadata={"sentence": "The address that `penstock serve` listens on."}
    )
    port: int = field(
        default=8080, metadata={"sentence": "The port that `penstock serve` listens on."}
    )
    workers: int = field(
        default=2, metadata={"sentence": "How many processes `penstock serve` starts."}
    )
    time_quantum: float = field(
        default=0.025,
        metadata={
            "sentence": "Refusals and first grants are answered at multiples of this many seconds,"
            " so that the clock tells nothing; 0 switches it off."
        },
    )
    token_days: int = field(
        default=90, metadata={"sentence": "How many days a token lives unless it says otherwise."}
    )
    token_longest_days: int = field(
        default=365,
        metadata={
            "sentence": "How many days a token may live at most, whoever makes it; what a token"
            " makes ends with it, too."
        },
    )
    tokens_per_user: int = field(
        default=64, metadata={"sentence": "How many tokens a user may have that are valid."}
    )
    session_idle_minutes: int = field(
        default=30,
        metadata={"sentence": "How many minutes a session of the pages lasts without a request."},
    )
    session_hours: int = field(
        default=12,
        metadata={
            "sentence": "How many hours a session lasts at most, and never beyond its token."
        },
    )
    busy_timeout: float = field(
        default=10.0,
        metadata={"sentence": "How many seconds to wait for a locked database before a 503."},
    )
    database_patience: float = field(
        default=5.0,
        metadata={"sentence": "How many seconds PostgreSQL may say nothing at all before a 503."},
    )
    log_patience: float = field(
        default=1.8,
        metadata={
            "sentence": "How many seconds an answer waits for the log and its witness before a 503."
        },
    )
    log_sink: str = field(
        default="",
        metadata={
            "sentence": "A second place that must take the log before anybody is answered:"
            " file:/PATH, syslog:/SOCKET or syslog+tcp:HOST:PORT."
        },
    )
    client_patience: float = field(
        default=60.0,
        metadata={
            "sentence": "How many seconds a client may take to send a whole request, and as many"
            " to take its answer."
        },
    )
    body_limit: int = field(
        default=MEBIBYTE, metadata={"sentence": "The largest request body, in bytes."}
    )
    query_body_limit: int = field(
        default=256 * MEBIBYTE,
        metadata={"sentence": "The largest body that registers a query, in bytes."},
    )
    dimension_limit: int = field(
        default=10_000_000, metadata={"sentence": "The most values that one query may have."}
    )
    levels_per_day: int = field(
        default=1000,
        metadata={
            "sentence": "How many levels a user is handed in 24 hours, those of tiers always; ten"
            " ranges of streams count as one; 0 is no limit."
        },
    )
    level_bytes_per_day: int = field(
        default=64 * MEBIBYTE,
        metadata={"sentence": "How many bytes these levels may have together; 0 is no limit."},
    )
    room_reserve: int = field(
        default=64 * MEBIBYTE,
        metadata={
            "sentence": "How many bytes of the room for the database are kept for taking access"
            " away; 0 keeps none."
        },
    )
    database_largest: int = field(
        default=0,
        metadata={"sentence": "The most bytes that a PostgreSQL database may have; 0 is no limit."},
    )
    request_burst: int = field(
        default=1000,
        metadata={"sentence": "How many requests a principal may make at once."},
    )
    request_rate: float = field(
        default=500.0,
        metadata={
            "sentence": "How many requests a second a principal may make after that; 0 is no limit."
        },
    )
    failed_sign_ins: int = field(
        default=10,
        metadata={
            "sentence": "How many tokens that are not valid an address may send in a minute;"
            " 0 is no limit."
        },
    )
    oidc_issuer: str = field(
        default="",
        metadata={
            "sentence": "The address of the OpenID provider whose tokens are believed beside"
            " Penstock's own; none when empty."
        },
    )
    oidc_audience: str = field(
        default="", metadata={"sentence": "The audience that its tokens for this server carry."}
    )
    oidc_claim: str = field(
        default="sub", metadata={"sentence": "The claim of its tokens that names the user."}
    )
    cosigners: str = field(
        default="",
        metadata={"sentence": "The keys of those who may cosign the log, with spaces between."},
    )
    two_person_rule: bool = field(
        default=False,
        metadata={
            "sentence": "Whether raising a dataset's largest budget, deleting, and acknowledging a"
            " restore are proposed by one admin and approved by another: on or off."
        },
    )
    processor_burst: float = field(
        default=120.0,
        metadata={
            "sentence": "How many seconds of a processor a principal may use at once; requests"
            " that take next to nothing do not count."
        },
    )
    processor_rate: float = field(
        default=0.25,
        metadata={
            "sentence": "How many seconds of a processor a principal may use in every second after"
            " that; 0 is no limit."
        },
    )
    computing_processes: int = field(
        default=1,
        metadata={
            "sentence": "How many processes each worker has for long computations; with 0 they are"
            " done where requests are answered."
        },
    )
    computing_queue: int = field(
        default=2,
        metadata={"sentence": "How many computations of a worker may wait for one of them."},
    )
    computing_seconds: float = field(
        default=30.0,
        metadata={"sentence": "How many seconds of a processor one computation may take."},
    )
    computing_memory: int = field(
        default=2048 * MEBIBYTE,
        metadata={"sentence": "How many bytes of address space one computation may take."},
    )
    metrics_token: str = field(
        default="",
        metadata={
            "sentence": "The bearer token that /metrics asks for; nothing is there when empty.",
            "secret": True,
        },
        repr=False,
    )
    log_level: str = field(
        default="INFO", metadata={"sentence": "The least severe messages that are logged."}
    )

    @property
    def database_path(self) -> Path:
        """The folder of the SQLite database."""
        return self.database_folder or self.home / "database"

    @property
    def keys_path(self) -> Path:
        """The folder of the key ring and the server's secrets."""
        return self.keys_folder or self.home / "keys"

    @property
    def witness_path(self) -> Path:
        """The folder of the log's witness."""
        return self.witness_folder or self.home / "witness"

    @property
    def resolved_database_url(self) -> str:
        """The URL in force, the SQLite file's where none is set."""
        return self.database_url or f"sqlite:///{(self.database_path / 'penstock.db').resolve()}"

    @property
    def resolved_migration_url(self) -> str:
        """The URL under which the schema is changed."""
        return self.migration_database_url or self.resolved_database_url


@dataclass(frozen=True)
class Provenance:
    """One setting as it stands: its value (secrets masked) and where it came from."""

    name: str
    value: str
    source: str
    sentence: str


def load(
    environment: Mapping[str, str] = os.environ, file: Path | None = None
) -> tuple[Settings, list[Provenance]]:
    """Read the settings once.

    ``file`` defaults to ``PENSTOCK_CONFIG`` or ``./penstock.toml`` where that exists.
    Raises ``InvalidInput`` for unknown names, wrong types and unreadable files.
    """
    written, origin = _read_file(environment, file)
    known = {item.name for item in fields(Settings)}
    unknown = sorted(set(written) - known)
    if unknown:
        raise InvalidInput(f"{origin} sets {', '.join(unknown)}, which Penstock does not know.")
    values: dict[str, object] = {}
    provenance = []
    for item in fields(Settings):
        variable = PREFIX + item.name.upper()
        source = "default"
        raw: object = item.default
        if item.name in written:
            raw, source = written[item.name], str(origin)
        if item.metadata.get("secret") and variable + "_FILE" in environment:
            secret = Path(environment[variable + "_FILE"])
            raw, source = read_secret(secret), f"{variable}_FILE"
        if variable in environment:
            raw, source = environment[variable], variable
        values[item.name] = raw if source == "default" else convert(item.name, raw, source)
        told = "(set)" if item.metadata.get("secret") and raw else shown(values[item.name])
        provenance.append(Provenance(item.name, told, source, item.metadata["sentence"]))
    settings = Settings(**values)  # type: ignore[arg-type]  # every value was converted to its field's type above
    _check(settings)
    return settings, provenance


def _read_file(
    environment: Mapping[str, str], file: Path | None
) -> tuple[dict[str, object], Path | None]:
    named = file or (
        Path(environment["PENSTOCK_CONFIG"]) if "PENSTOCK_CONFIG" in environment else None
    )
    path = named or Path("penstock.toml")
    if named is None and not path.exists():
        return {}, None
    try:
        return flat(tomllib.loads(shallow(path.read_text()))), path
    except OSError as problem:
        reason = problem.strerror
        raise InvalidInput(f"The settings file {path} cannot be read: {reason}.") from problem
    except ValueError as problem:
        raise InvalidInput(
            f"The settings file {path} cannot be read as TOML: {problem}."
        ) from problem


SHORTEST_METRICS_TOKEN = 16


def _check(settings: Settings) -> None:
    require_possible(vars(settings))
    if settings.key_provider not in ("keyring", "pkcs11"):
        raise InvalidInput(
            f"The setting key_provider is {settings.key_provider!r}; it must be keyring or pkcs11."
        )
    if settings.key_provider == "pkcs11" and not (settings.pkcs11_module and settings.pkcs11_token):
        raise InvalidInput(
            "The key provider pkcs11 needs the settings pkcs11_module and pkcs11_token."
        )
    if settings.oidc_issuer and not (settings.oidc_audience and settings.oidc_claim):
        raise InvalidInput(
            "The setting oidc_issuer needs oidc_audience and oidc_claim: a token that was made for"
            " another server must not be believed."
        )
    if settings.log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise InvalidInput(
            f"The setting log_level is {settings.log_level!r};"
            " it must be DEBUG, INFO, WARNING or ERROR."
        )
    token = settings.metrics_token
    if token and (len(token) < SHORTEST_METRICS_TOKEN or not token.isascii() or " " in token):
        raise InvalidInput(
            f"The setting metrics_token must have {SHORTEST_METRICS_TOKEN} characters or more,"
            " ASCII without spaces; make one with `openssl rand -hex 32`."
        )
