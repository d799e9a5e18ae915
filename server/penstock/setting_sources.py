"""Read settings from a file, files of secrets and variables, and record the source of each."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from annotated_types import Ge, Le
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
)

from penstock.errors import InvalidInput
from penstock.nesting import flat, shallow
from penstock.setting_checks import check
from penstock.setting_connections import SENTENCE, TABLE, connections_of, secret_in
from penstock.setting_sign_on import SECRET
from penstock.settings import PREFIX, Settings

_NO_VARIABLE: Final = f"{PREFIX}{TABLE.upper()}"
"""Connections are set one by one; no variable has them all."""

Given = dict[str, tuple[str, str]]
"""By the setting's name, the given text and the name of its source."""

_NOT_THAT: Final = {
    "int_parsing": "which is not a whole number",
    "int_parsing_size": "which is not a whole number that can be used",
    "float_parsing": "which is not a number",
    "bool_parsing": "which is neither on nor off",
    "path_type": "which names no folder",
}


_ALIKE: Final = 0.93
"""How alike names are of which one is a misspelled other, of 1."""

MASKED: Final = "(set)"
"""What is shown of a secret."""


@dataclass(frozen=True)
class Provenance:
    """Hold one setting: its value (secrets masked) and its source."""

    name: str
    value: str
    source: str
    sentence: str


def load(
    environment: Mapping[str, str] = os.environ, file: Path | None = None
) -> tuple[Settings, list[Provenance]]:
    """Read the settings once, and return where each came from.

    ``file`` defaults to ``PENSTOCK_CONFIG`` or ``./penstock.toml`` if that exists.
    Raises ``InvalidInput`` for unknown names, wrong types, numbers out of bounds and files
    that cannot be read.
    """
    content, origin = _content_of_file(environment, file)
    connections = connections_of(environment, content.pop(TABLE, {}), str(origin))
    given = _written(environment, content, origin)
    values: dict[str, Any] = {name: value for name, (value, _) in given.items()}
    values[TABLE] = {name: secret for name, (secret, _) in connections.items()}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _refusal(error, given) from None
    check(settings)
    provenance = []
    for name, field in Settings.model_fields.items():
        if name == TABLE:
            continue
        value = getattr(settings, name)
        masked = MASKED if field.json_schema_extra == SECRET and value else shown(value)
        source = given[name][1] if name in given else "default"
        provenance.append(Provenance(name, masked, source, field.description or ""))
    provenance += [
        Provenance(f"connection_{name}", MASKED, source, SENTENCE)
        for name, (_, source) in connections.items()
    ]
    return settings, provenance


class SecretFiles(PydanticBaseSettingsSource):
    """Read the secrets whose files variables like ``PENSTOCK_DATABASE_URL_FILE`` name."""

    def __init__(self, settings: type[BaseSettings], environment: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._environment = environment

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the secret without space around it, or None.  Raises ``InvalidInput``."""
        path = self._environment.get(variable_of(field_name) + "_FILE")
        if path is None or field.json_schema_extra != SECRET:
            return None, field_name, False
        return secret_in(variable_of(field_name) + "_FILE", path), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the secrets by the names of their settings."""
        secrets = {
            name: self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
        }
        return {name: secret for name, secret in secrets.items() if secret is not None}


def variable_of(name: str) -> str:
    """Return the environment variable of the setting ``name``."""
    return PREFIX + name.upper()


def misspelled(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each variable that is no setting and looks like one."""
    known = {variable_of(name) for name in Settings.model_fields if name != TABLE}
    secrets = {
        variable_of(name) + "_FILE"
        for name, field in Settings.model_fields.items()
        if field.json_schema_extra == SECRET
    }
    return [
        f"{name} is no setting, and is not read. Was {close[0]} meant?"
        for name in sorted(set(environment) - known - secrets - {_NO_VARIABLE})
        if name.startswith(PREFIX)
        and (close := get_close_matches(name, known | secrets, n=1, cutoff=_ALIKE))
    ]


def _written(
    environment: Mapping[str, str], content: Mapping[str, Any], origin: Path | None
) -> Given:
    """Return the values given for settings; a later source replaces an earlier one.

    Raises ``InvalidInput`` for unknown settings in the file, ``content``.
    """
    given: Given = {}
    unknown = sorted(set(content) - set(Settings.model_fields))
    if unknown:
        raise InvalidInput(f"{origin} sets {', '.join(unknown)}, which are unknown settings.")
    given.update({name: (str(value), str(origin)) for name, value in content.items()})
    for name, secret in SecretFiles(Settings, environment)().items():
        given[name] = (secret, variable_of(name) + "_FILE")
    variables = EnvSettingsSource(Settings)
    # It has read this process's own environment; callers may give another one.
    variables.env_vars = {
        name.lower(): value for name, value in environment.items() if name.upper() != _NO_VARIABLE
    }
    given.update({name: (value, variable_of(name)) for name, value in variables().items()})
    return given


def _content_of_file(
    environment: Mapping[str, str], file: Path | None
) -> tuple[dict[str, Any], Path | None]:
    named = file or (
        Path(environment["PENSTOCK_CONFIG"]) if "PENSTOCK_CONFIG" in environment else None
    )
    path = named or Path("penstock.toml")
    if named is None and not path.exists():
        return {}, None
    # Imported here: most homes have no such file.
    import tomllib

    try:
        return flat(tomllib.loads(shallow(path.read_text()))), path
    except OSError as error:
        raise InvalidInput(f"The settings file {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidInput(f"The settings file {path} cannot be read as TOML: {error}.") from error


def _refusal(error: ValidationError, given: Given) -> InvalidInput:
    """Return the error that names the first invalid setting."""
    problem = error.errors(include_url=False, include_context=False)[0]
    name = str(problem["loc"][0])
    text, source = given[name]
    not_that = _NOT_THAT.get(problem["type"])
    if not_that is not None:
        return InvalidInput(f"{source} sets {name} to {text!r}, {not_that}.")
    bounds = Settings.model_fields[name].metadata
    low = next(bound.ge for bound in bounds if isinstance(bound, Ge))
    high = next(bound.le for bound in bounds if isinstance(bound, Le))
    return InvalidInput(f"{source} sets {name} to {text}; it must be from {low} to {high}.")


def shown(value: object) -> str:
    """Write a setting's value as an operator would type it; empty if there is none."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)
