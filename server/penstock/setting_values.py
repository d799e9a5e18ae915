"""Of which kind a setting's value is, between which bounds numbers lie, how both are written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import InvalidInput

_PATHS = {
    *("home", "database_folder", "keys_folder", "witness_folder", "data_folder"),
    *("pkcs11_module", "pkcs11_pin_file"),
}
_INTEGERS = {
    *("port", "workers", "token_days", "body_limit", "query_body_limit", "dimension_limit"),
    *("levels_per_day", "level_bytes_per_day", "room_reserve", "database_largest"),
    *("request_burst", "failed_sign_ins", "session_idle_minutes", "session_hours"),
    *("token_longest_days", "tokens_per_user"),
    *("computing_processes", "computing_queue", "computing_memory"),
}
_SWITCHES = {"data_anywhere", "two_person_rule"}
_POSITIONS = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_NUMBERS = {
    *("time_quantum", "busy_timeout", "log_patience", "request_rate"),
    *("client_patience", "database_patience"),
    *("processor_burst", "processor_rate", "computing_seconds"),
}


def convert(name: str, raw: object, source: str) -> object:
    """Read ``raw`` as the kind of value that the setting ``name`` has.  Raises ``InvalidInput``."""
    try:
        if name in _PATHS:
            return Path(str(raw)) if raw else None
        if name in _INTEGERS:
            return int(str(raw))
        if name in _NUMBERS:
            return float(str(raw))
        if name in _SWITCHES:
            return _POSITIONS[str(raw).lower()]
    except KeyError as problem:
        raise InvalidInput(f"{source} sets {name} to {raw!r}; it is on or off.") from problem
    except ValueError as problem:
        kind = "a whole number" if name in _INTEGERS else "a number"
        raise InvalidInput(f"{source} sets {name} to {raw!r}, which is not {kind}.") from problem
    return str(raw)


def shown(value: object) -> str:
    """Write a setting's value as an operator would type it; empty where there is none."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def read_secret(path: Path) -> str:
    """Read the secret in a file, without space around it.  Raises ``InvalidInput``."""
    try:
        return path.read_text().strip()
    except OSError as problem:
        raise InvalidInput(
            f"The secret file {path} cannot be read: {problem.strerror}."
        ) from problem


_RANGES: dict[str, tuple[float, float]] = {
    "port": (0, 65535),
    "workers": (1, 256),
    "time_quantum": (0, 10),
    "token_days": (1, 3650),
    "token_longest_days": (1, 3650),
    "tokens_per_user": (1, 100_000),
    "session_idle_minutes": (1, 1440),
    "session_hours": (1, 720),
    "busy_timeout": (0.1, 600),
    "database_patience": (0.5, 600),
    "log_patience": (0.1, 600),
    "client_patience": (1, 86_400),
    "body_limit": (1024, 2**40),
    "query_body_limit": (1024, 2**40),
    "dimension_limit": (1, 10_000_000),
    **dict.fromkeys(("levels_per_day", "level_bytes_per_day"), (0, 2**50)),
    **dict.fromkeys(("room_reserve", "database_largest"), (0, 2**50)),
    "request_burst": (1, 1_000_000),
    "request_rate": (0, 1_000_000),
    "failed_sign_ins": (0, 1_000_000),
    "processor_burst": (1, 1_000_000),
    "processor_rate": (0, 1_000_000),
    "computing_processes": (0, 64),
    "computing_queue": (0, 64),
    "computing_seconds": (0.1, 3600),
    "computing_memory": (768 * 2**20, 2**50),
}


def _require_address(url: str) -> None:
    """Raise ``InvalidInput`` where links cannot be made of the address that readers use."""
    try:
        parts = urlsplit(url)
        port_read = parts.port is None or parts.port > 0
    except ValueError:
        port_read = False
    odd = (
        not port_read or url != "".join(url.split()) or not url.isprintable() or "//" in parts.path
    )
    whole = not odd and parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            f"The setting public_url is {url!r}; it must be an address as readers type it, with"
            " http:// or https:// and a host, without a query: https://example.org/penstock."
        )


def require_possible(values: Mapping[str, Any]) -> None:
    """Raise ``InvalidInput`` for a number beyond its bounds, and an address without a host."""
    _require_address(values["public_url"])
    for name, (low, high) in _RANGES.items():
        if not low <= values[name] <= high:
            raise InvalidInput(
                f"The setting {name} is {values[name]}; it must be from {low} to {high}."
            )
