"""Read the credentials that the operator names: ``PENSTOCK_CONNECTION_WAREHOUSE`` and its like.

The name is folded, so that connection ``ware-house`` of a dataset is the one that
``PENSTOCK_CONNECTION_WARE_HOUSE`` sets, or the file that ``PENSTOCK_CONNECTION_WARE_HOUSE_FILE``
names; so no name ends in ``_file``.  In the settings' file they are the table ``[connections]``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from penstock.errors import InvalidInput
from penstock.settings import PREFIX

TABLE: Final = "connections"
"""The table of the settings' file."""

SENTENCE: Final = "The address and credentials of a connection, which datasets name."

_VARIABLE: Final = f"{PREFIX}CONNECTION_"
_FILE: Final = "_FILE"
_NAME: Final = re.compile("[a-z0-9][a-z0-9_]*")


def folded_connection(name: str) -> str:
    """Return the form in which names of connections are compared: lower case, ``_`` for ``-``."""
    return name.lower().replace("-", "_")


def variable_of_connection(name: str) -> str:
    """Return the environment variable of the connection ``name``."""
    return _VARIABLE + folded_connection(name).upper()


def is_connection(name: str) -> bool:
    """Return True if a connection can have this name."""
    folded = folded_connection(name)
    return _NAME.fullmatch(folded) is not None and not folded.endswith(_FILE.lower())


def connections_of(
    environment: Mapping[str, str], table: object, origin: str
) -> dict[str, tuple[str, str]]:
    """Return each connection's secret and source, by folded name; variables come before the file.

    ``table`` is that of the settings' file ``origin``.  Raises ``InvalidInput``, without any value,
    for names that no connection can have, values that are no text, and unreadable files.
    """
    given = _in_the_file(table, origin)
    variables = {name: text for name, text in environment.items() if name.startswith(_VARIABLE)}
    files = {name: path for name, path in variables.items() if name.endswith(_FILE)}
    for name, path in files.items():
        given[_named(name, name[len(_VARIABLE) : -len(_FILE)])] = secret_in(name, path), name
    for name, secret in variables.items():
        if name not in files:
            given[_named(name, name[len(_VARIABLE) :])] = secret.strip(), name
    return {name: entry for name, entry in sorted(given.items()) if entry[0]}


def _in_the_file(table: object, origin: str) -> dict[str, tuple[str, str]]:
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{origin} sets {TABLE}, which must be a table of names and texts.")
    given: dict[str, tuple[str, str]] = {}
    for name, secret in table.items():
        if not isinstance(secret, str):
            raise InvalidInput(f"{origin} sets connection {name!r}, which must be a text.")
        folded = _named(f"{origin}, {TABLE},", str(name))
        if folded in given:
            raise InvalidInput(f"{origin} sets connection {folded!r} twice; keep one of the two.")
        given[folded] = secret.strip(), origin
    return given


def _named(source: str, name: str) -> str:
    if not is_connection(name):
        raise InvalidInput(
            f"{source} names no connection: a name has ASCII letters, digits and _ only, a letter"
            " or digit first, and does not end in _FILE."
        )
    return folded_connection(name)


def secret_in(variable: str, path: str) -> str:
    """Return the secret in the file that a variable names, without space around it.

    Raises ``InvalidInput``, which repeats neither, if it cannot be read or is empty.
    """
    # Someone may have put the secret itself here, so not even the path is repeated, and the causes,
    # which have it or the file's bytes, are dropped.
    try:
        secret = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        reason = error.strerror
    except ValueError:
        reason = "it is no text, or no path"
    else:
        if secret:
            return secret
        reason = "it is empty"
    raise InvalidInput(f"The file that {variable} names cannot be read: {reason}.")
